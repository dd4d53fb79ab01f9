import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { EXIT, Fault } from "../fault.ts";
import { treeOf } from "../git/repository.ts";
import type { Command, Evidence } from "../record/events.ts";
import { evidenceFor, isNoWorse, madeIn, prove } from "../record/evidence.ts";
import { attach } from "../record/job.ts";
import { isPass, isRed } from "../record/judge.ts";
import { isActive } from "../record/state.ts";
import { type Own, ownAttempt } from "./attempt.ts";

/** How a gate's call can come out, and what the program ends with then. */
export const RESULTS = {
  pass: EXIT.done,
  fail: EXIT.refused,
  "changed-files": EXIT.refused,
  refused: EXIT.usage,
  running: EXIT.running,
} as const;

/** `output`: raw, as an absolute path; `tail`: its end, where the gate failed. */
type Outcome = Readonly<{
  result: keyof typeof RESULTS;
  hint: string;
  seconds?: number;
  output?: string;
  tail?: string;
}>;
/** `reused`: the gate did not run, there is evidence for these very files; `failures`: so far, of as many as `allowed`. */
export type GateResult = Outcome & Readonly<{ gate: string; reused: boolean; failures: number; allowed: number }>;

const TAIL_LINES = 40;
const NO_TRY_LEFT = "no try is left: commit what there is, then end with what is missing";

/** Runs one gate, or all in order until one does not pass, on the files as they lie there; evidence for them is reused.
 * @param name undefined for all
 * @throws Fault `no-gate`, `job` */
export async function gate(name: string | undefined, cwd: string, until: number): Promise<GateResult[]> {
  const { gates } = (await ownAttempt(cwd)).state;
  const names = gates.map((each) => each.name).join(", ");
  const wanted = gates.filter((each) => name === undefined || each.name === name);
  if (wanted.length === 0) throw new Fault("no-gate", `there is no gate ${name}`, `there are ${names}`, EXIT.usage);
  const results: GateResult[] = [];
  for (const each of wanted) {
    results.push(await runGate(await ownAttempt(cwd), each, until));
    if (results.at(-1)?.result !== "pass") break;
  }
  return results;
}

async function runGate(own: Own, command: Command, until: number): Promise<GateResult> {
  const { place, journal, attempt, state } = own;
  const { name } = command;
  const tree = await treeOf(place, madeIn(state, attempt.id));
  const known = evidenceFor(state, command, tree);
  const allowed = state.blueprint.bounds.failures;
  const as = (outcome: Outcome, failures = attempt.failures[name] ?? 0): GateResult => ({
    ...{ gate: name, reused: known !== undefined, failures, allowed, ...outcome },
  });
  if (known) return as(await outcome(own, known));
  if (!isActive(attempt) || (attempt.failures[name] ?? 0) >= allowed)
    return as({ result: "refused", hint: NO_TRY_LEFT });
  const job = { journal, cwd: place.top, job: `gate ${attempt.id} ${name}`, until };
  const made = await attach(job, (now) => evidenceFor(now, command, tree));
  if (!made) return as({ result: "running", hint: "call the same again: it goes on meanwhile" });
  const now = await ownAttempt(place.top);
  return as(await outcome(now, made), now.attempt.failures[name]);
}

/** What evidence says, for the worker. */
async function outcome({ journal, attempt, state }: Own, evidence: Evidence): Promise<Outcome> {
  const { gate, changed, code, ms } = evidence;
  const plain = { seconds: ms / 1000, output: join(journal.folder, evidence.output) };
  const hint = evidence.known ? "red in nothing that is not red on the base" : "";
  if (isPass(evidence)) return { result: "pass", hint, ...plain };
  if (!isRed(evidence)) {
    return {
      result: "changed-files",
      hint: `it changed ${changed.slice(0, 5).join(", ")}: look at that, then run it again`,
      ...plain,
    };
  }
  const text = await readFile(plain.output, "utf8").catch(() => "");
  const tail = text.trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
  const isOver = (attempt.failures[gate] ?? 0) >= state.blueprint.bounds.failures;
  const next = isOver ? NO_TRY_LEFT : "find the cause, fix it once, run it again";
  const why = code === null ? "it ran out of time. " : evidence.untested ? "it tested nothing. " : "";
  return { result: "fail", hint: why + next, tail, ...plain };
}

/** What the job `gate` does. The failure that uses up the bound ends the attempt. */
export async function runGateJob(own: Own, name: string): Promise<void> {
  const { journal, state, attempt } = own;
  const command = state.gates.find((each) => each.name === name) as Command;
  const evidence = await prove({ ...own, by: "worker", attempts: [attempt.id] }, command);
  const allowed = state.blueprint.bounds.failures;
  const isLast = isRed(evidence) && (attempt.failures[name] ?? 0) + 1 >= allowed;
  const before = state.evidence.findLast((each) => each.gate === name && each.attempts[0] === attempt.id);
  const [one, other] = [evidence, before ?? evidence];
  const isStuck =
    isLast && before && (await isNoWorse(journal, state, one, other)) && (await isNoWorse(journal, state, other, one));
  const reason = isStuck ? "stuck" : "gate-failed";
  const how = isStuck ? "with the same error, also after a fix" : `${allowed} times`;
  const note = `${name} failed ${how}, last: ${evidence.output}.`;
  const ended = { event: "ended", attempt: attempt.id, reason, note } as const;
  await journal.add({ event: "evidence", ...evidence }, ...(isLast ? [ended] : []));
}
