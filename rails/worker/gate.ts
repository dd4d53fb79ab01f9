import { join } from "node:path";
import { treeOf } from "../git/repository.ts";
import type { Evidence, NewEvent } from "../journal/events.ts";
import {
  evidenceFor,
  gatesOf,
  isMet,
  isMissed,
  madeIn,
  type PhaseGate,
} from "../journal/evidence.ts";
import { isActive } from "../journal/state.ts";
import { EXIT, Fault } from "../program/fault.ts";
import { attach } from "../proof/jobs.ts";
import { tailOf } from "../proof/output.ts";
import { isNoWorse, prove } from "../proof/prove.ts";
import { type Own, ownAttempt } from "./attempt.ts";

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
  output?: string; // Raw, as an absolute path
  tail?: string; // Its end, where the gate failed
}>;

const TAIL_LINES = 40;
const GREEN_ALREADY = "it has to be red here: what you wrote passes already, so it shows nothing";
const NO_TRY_LEFT = "no try is left: commit what there is, then end with what is missing";

/** Runs one gate, or all in order until one does not pass, on the files as they lie there; evidence
 * for them is reused.
 * @param name undefined for all
 * @throws Fault `no-gate`, `job` */
export async function gate(
  name: string | undefined,
  cwd: string,
  until: number,
): Promise<GateResult[]> {
  const { state, attempt } = await ownAttempt(cwd);
  const gates = gatesOf(state, attempt.phase);
  const names = gates.map((each) => each.name).join(", ");
  const wanted = gates.filter((each) => name === undefined || each.name === name);
  if (wanted.length === 0)
    throw new Fault("no-gate", `there is no gate ${name}`, `there are ${names}`, EXIT.usage);
  const results: GateResult[] = [];
  for (const each of wanted) {
    results.push(await runGate(await ownAttempt(cwd), each, until));
    if (results.at(-1)?.result !== "pass") break;
  }
  return results;
}

/** Runs one gate, or takes what is known of it on these very files. */
async function runGate(own: Own, command: PhaseGate, until: number): Promise<GateResult> {
  const { place, journal, attempt, state } = own;
  const { id } = attempt;
  const { name } = command;
  const allowed = state.blueprint.bounds.failures;
  const tree = await treeOf(place, madeIn(state, id));
  const known = evidenceFor(state, command, tree);
  const before = attempt.failures[name] ?? 0;
  const plain = { gate: name, reused: known !== undefined, failures: before, allowed };
  if (!known && (!isActive(attempt) || before >= allowed))
    return { ...plain, result: "refused", hint: NO_TRY_LEFT };

  const job = { journal, cwd: place.top, job: `gate ${id} ${name}`, until };
  const evidence = known ?? (await attach(job, (now) => evidenceFor(now, command, tree)));
  const failures = (await journal.state()).attempts.get(id)?.failures[name] ?? 0;
  if (!evidence) {
    const hint = "call the same again: it goes on meanwhile";
    return { ...plain, failures, result: "running", hint };
  }
  const output = join(journal.folder, evidence.output);
  const ran = { ...plain, failures, seconds: evidence.ms / 1000, output };
  return { ...ran, ...(await outcomeOf(command, evidence, ran)) };
}

type Ran = Readonly<{ failures: number; allowed: number; output: string }>;

/** How a gate came out, and what its worker is to do. */
async function outcomeOf(
  command: PhaseGate,
  evidence: Evidence,
  { failures, allowed, output }: Ran,
): Promise<Pick<GateResult, "result" | "hint" | "tail">> {
  if (isMet(command, evidence)) {
    const asBefore = evidence.known ? "red in nothing that is not on the base" : "";
    return { result: "pass", hint: command.red ? "red, as it has to be here" : asBefore };
  }
  if (!isMissed(command, evidence)) {
    const changed = evidence.changed.slice(0, 5).join(", ");
    return {
      result: "changed-files",
      hint: `it changed ${changed}: look at that, then run it again`,
    };
  }
  if (command.red && evidence.code === 0 && !evidence.untested)
    return { result: "fail", hint: GREEN_ALREADY };
  const next = failures >= allowed ? NO_TRY_LEFT : "find the cause, fix it once, run it again";
  const tail = (await tailOf(output, TAIL_LINES)).join("\n");
  return { result: "fail", hint: whyRed(evidence) + next, tail };
}

/** Why it is red, where its output may not say so. */
function whyRed({ code, untested }: Evidence): string {
  if (code === null) return "it ran out of time. ";
  return untested ? "it tested nothing. " : "";
}

/** What the job `gate` does. The failure that uses up the bound ends the attempt. */
export async function runGateJob(own: Own, name: string): Promise<void> {
  const { journal, state, attempt } = own;
  const command = gatesOf(state, attempt.phase).find((each) => each.name === name) as PhaseGate;
  const now = await prove({ ...own, by: "worker", attempts: [attempt.id] }, command);
  const events: NewEvent[] = [{ event: "evidence", ...now }];
  const allowed = state.blueprint.bounds.failures;
  if (isMissed(command, now) && (attempt.failures[name] ?? 0) + 1 >= allowed) {
    const before = state.evidence.findLast(
      (each) =>
        each.gate === name && each.command === command.run && each.attempts[0] === attempt.id,
    );
    const isNoWorseThan = (one: Evidence, other: Evidence) => isNoWorse(journal, state, one, other);
    const isStuck =
      before && (await isNoWorseThan(now, before)) && (await isNoWorseThan(before, now));
    const how = isStuck ? "with the same error, also after a fix" : `${allowed} times`;
    const note = `${name} failed ${how}, last: ${now.output}.`;
    events.push({
      event: "ended",
      attempt: attempt.id,
      reason: isStuck ? "stuck" : "gate-failed",
      note,
    });
  }
  await journal.add(...events);
}
