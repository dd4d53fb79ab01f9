import { join } from "node:path";
import { treeOf } from "../git/repository.ts";
import type { Evidence, NewEvent } from "../journal/events.ts";
import { evidenceFor, gatesOf, madeIn, type PhaseGate } from "../journal/evidence.ts";
import { isMet, isMissed } from "../journal/passed.ts";
import { hasRounds } from "../journal/rounds.ts";
import { type AttemptState, isActive } from "../journal/state.ts";
import { EXIT, Fault } from "../program/fault.ts";
import { ownOf } from "../program/files.ts";
import { attach } from "../proof/jobs.ts";
import { tailOf } from "../proof/output.ts";
import { isNoWorse, prove } from "../proof/prove.ts";
import { asOfNow, type Own, ownAttempt } from "./attempt.ts";

/** How a gate's call can come out, and what the program ends with then. */
export const RESULTS = {
  pass: EXIT.done,
  fail: EXIT.refused,
  "changed-files": EXIT.refused,
  refused: EXIT.usage,
  running: EXIT.running,
} as const;

/** What a gate's call comes to. */
export type GateResult = Readonly<{
  gate: string;
  result: keyof typeof RESULTS;
  hint: string;
  reused: boolean; // It did not run: there is evidence for these very files
  failures: number; // So far, of as many as are allowed
  allowed: number;
  seconds?: number;
  failing?: string; // The line by which its runner sums failures up, where it ended with 0
  output?: string; // Raw, as an absolute path
  tail?: string; // Its end, where the gate failed
}>;

const TAIL_LINES = 40;
const GREEN_ALREADY = "it has to be red here: what you wrote passes already, so it shows nothing";
const NO_TRY_LEFT = "no try is left: commit what there is, then end with what is missing";
const ROUND_OVER =
  "no try is left in this round: commit what is better, then minion submit: the next one goes on";

/** Runs one gate, or all in order until one does not pass, on the files as they lie there; evidence
 * for them is reused.
 * @param name undefined for all
 * @throws Fault `no-gate`, `job` */
export async function gate(
  name: string | undefined,
  cwd: string,
  until: number,
): Promise<GateResult[]> {
  const own = await ownAttempt(cwd);
  const { state, attempt } = own;
  const gates = gatesOf(state, attempt);
  const names = gates.map((each) => each.name).join(", ");
  const wanted = gates.filter((each) => name === undefined || each.name === name);
  if (wanted.length === 0)
    throw new Fault("no-gate", `there is no gate ${name}`, `there are ${names}`, EXIT.usage);
  const results: GateResult[] = [];
  for (const each of wanted) {
    results.push(await runGate(await asOfNow(own), each, until));
    if (results.at(-1)?.result !== "pass") break;
  }
  return results;
}

async function runGate(own: Own, command: PhaseGate, until: number): Promise<GateResult> {
  const { place, journal, attempt, state } = own;
  const { id } = attempt;
  const { name } = command;
  const allowed = state.blueprint.bounds.failures;
  const tree = await treeOf(place, madeIn(state, id));
  const known = evidenceFor(state, command, tree);
  if (!known && !mayRun(attempt, name, allowed)) {
    const failures = await failuresOf(own, name);
    const hint = noTryLeft(attempt);
    return { gate: name, reused: false, failures, allowed, result: "refused", hint };
  }
  const job = { journal, cwd: place.top, job: `gate ${id} ${name}`, until };
  const evidence = known ?? (await attach(job, (now) => evidenceFor(now, command, tree)));
  const failures = await failuresOf(own, name);
  const call = { gate: name, reused: known !== undefined, failures, allowed };
  if (!evidence)
    return { ...call, result: "running", hint: "call the same again: it goes on meanwhile" };
  const output = join(journal.folder, evidence.output);
  const { failing } = evidence;
  const says = failing === undefined ? {} : { failing };
  const ran = { ...call, seconds: evidence.ms / 1000, output, ...says };
  if (isMet(command, evidence))
    return { ...ran, result: "pass", hint: passHint(command, evidence) };
  if (!isMissed(command, evidence)) {
    const changed = evidence.changed.slice(0, 5).join(", ");
    const hint = `it changed ${changed}: look at that, then run it again`;
    return { ...ran, result: "changed-files", hint };
  }
  if (command.red && evidence.code === 0 && !evidence.untested)
    return { ...ran, result: "fail", hint: GREEN_ALREADY };
  const next =
    failures >= allowed ? noTryLeft(attempt) : "find the cause, fix it once, run it again";
  const tail = (await tailOf(output, TAIL_LINES)).join("\n");
  return { ...ran, result: "fail", hint: failHint(evidence) + next, tail };
}

const noTryLeft = ({ phase }: AttemptState): string =>
  hasRounds(phase) ? ROUND_OVER : NO_TRY_LEFT;

const mayRun = (attempt: AttemptState, name: string, allowed: number): boolean =>
  isActive(attempt) && (ownOf(attempt.failures, name) ?? 0) < allowed;

/** How often a gate has failed in the attempt, as the journal says by now. */
const failuresOf = async ({ journal, attempt }: Own, name: string): Promise<number> =>
  ownOf((await journal.state()).attempts.get(attempt.id)?.failures ?? {}, name) ?? 0;

/** What there is to say of a gate that came out as it has to. */
function passHint({ red }: PhaseGate, { known }: Evidence): string {
  if (red) return "red, as it has to be here";
  return known ? "red in nothing that is not on the base" : "";
}

/** What there is to say of a failure that is no usual one. */
function failHint({ code, untested, failing }: Evidence): string {
  if (code === null) return "it ran out of time. ";
  if (failing !== undefined) return `it ended with 0 and printed «${failing}»: that is no pass. `;
  return untested ? "it tested nothing. " : "";
}

/** What the job `gate` does. The failure that uses up the bound ends the attempt, where it is no
 * round, which is handed in as it is. */
export async function runGateJob(own: Own, name: string): Promise<void> {
  const { journal, state, attempt } = own;
  const command = gatesOf(state, attempt).find((each) => each.name === name) as PhaseGate;
  const now = await prove({ ...own, by: "worker", attempts: [attempt.id] }, command);
  const events: NewEvent[] = [{ event: "evidence", ...now }];
  const isLast = (ownOf(attempt.failures, name) ?? 0) + 1 >= state.blueprint.bounds.failures;
  if (isMissed(command, now) && isLast && !hasRounds(attempt.phase))
    events.push(await endBy(own, now));
  await journal.add(...events);
}

/** The end of an attempt by the failure of a gate: `stuck` where the one before it was the same. */
async function endBy({ journal, state, attempt }: Own, now: Evidence): Promise<NewEvent> {
  const { gate, output } = now;
  const before = state.evidence.findLast(
    (each) => each.gate === gate && each.attempts[0] === attempt.id,
  );
  const isStuck =
    before !== undefined &&
    (await isNoWorse(journal, state, now, before)) &&
    (await isNoWorse(journal, state, before, now));
  const how = isStuck
    ? "with the same error, also after a fix"
    : `${state.blueprint.bounds.failures} times`;
  return {
    event: "ended",
    attempt: attempt.id,
    reason: isStuck ? "stuck" : "gate-failed",
    note: `${gate} failed ${how}, last: ${output}.`,
  };
}
