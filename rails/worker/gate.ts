import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { EXIT, type ExitCode, Fault } from "../fault.ts";
import { pathsBetween, treeOf } from "../git/repository.ts";
import type { Command, Evidence } from "../record/events.ts";
import { evidenceFor, isPass } from "../record/evidence.ts";
import { attach } from "../record/job.ts";
import { prove } from "../record/prove.ts";
import { isActive } from "../record/state.ts";
import { type Own, ownAttempt } from "./attempt.ts";

export interface GateResult {
  readonly gate: string;
  readonly result: keyof typeof EXITS;
  /** The gate did not run: there is evidence for these very files. */
  readonly reused: boolean;
  /** Failed runs so far and how many there may be. */
  readonly failures: number;
  readonly allowed: number;
  readonly seconds: number;
  /** Raw output, absolute, and its end where the gate failed. */
  readonly output: string | null;
  readonly tail: string;
  readonly hint: string;
}

const EXITS = {
  pass: EXIT.done,
  fail: EXIT.refused,
  "changed-files": EXIT.refused,
  refused: EXIT.usage,
  running: EXIT.running,
} as const;
const TAIL_LINES = 40;

/**
 * Runs one gate, or all in order until one does not pass, on the files as they lie there; evidence for them is reused.
 * @param name null for all
 * @throws Fault `no-gate`, `gate-broken`
 */
export async function gate(
  name: string | null,
  cwd: string,
  until: number,
): Promise<{ results: GateResult[]; exit: ExitCode }> {
  const { gates } = (await ownAttempt(cwd)).state;
  const wanted = gates.filter((each) => name === null || each.name === name);
  if (wanted.length === 0)
    throw new Fault(
      "no-gate",
      `there is no gate ${name}`,
      `there are ${gates.map((each) => each.name).join(", ")}`,
      EXIT.usage,
    );
  const results: GateResult[] = [];
  for (const each of wanted) {
    const result = await runGate(await ownAttempt(cwd), each, until);
    results.push(result);
    if (result.result !== "pass") return { results, exit: EXITS[result.result] };
  }
  return { results, exit: EXIT.done };
}

async function runGate(own: Own, command: Command, until: number): Promise<GateResult> {
  const { place, journal, attempt, state } = own;
  const { name: gate } = command;
  const tree = await treeOf(place.top, place.gitDir);
  const known = evidenceFor(state, command, tree);
  if (known) return described(own, known, true);
  const allowed = state.blueprint.bounds.failures;
  const failures = attempt.failures[gate] ?? 0;
  const blank = { gate, reused: false, failures, allowed, seconds: 0, output: null, tail: "" };
  if (!isActive(attempt) || failures >= allowed)
    return { ...blank, result: "refused", hint: "no try is left: commit what there is, then end with what is missing" };
  const job = { name: `gate ${attempt.id} ${gate}`, args: ["gate", gate], cwd: place.top };
  const answer = await attach(journal, job, (now) => evidenceFor(now, command, tree), until);
  if ("running" in answer) return { ...blank, result: "running", hint: "call the same again: it goes on meanwhile" };
  if ("error" in answer)
    throw new Fault("gate-broken", `gate ${gate} could not run: ${answer.error}`, "run it again", EXIT.writing);
  return described(await ownAttempt(place.top), answer.result, false);
}

async function described(
  { journal, attempt, state, place }: Own,
  evidence: Evidence,
  reused: boolean,
): Promise<GateResult> {
  const { gate, tree, treeAfter, code, ms } = evidence;
  const failures = attempt.failures[gate] ?? 0;
  const allowed = state.blueprint.bounds.failures;
  const output = join(journal.folder, evidence.output);
  const plain = { gate, reused, failures, allowed, seconds: ms / 1000, output };
  if (isPass(evidence)) return { ...plain, result: "pass", tail: "", hint: "" };
  if (code === 0) {
    const changed = (await pathsBetween(tree, treeAfter, place.top)).slice(0, 5).join(", ");
    return {
      ...plain,
      result: "changed-files",
      tail: "",
      hint: `it changed ${changed}: look at that, then run it again`,
    };
  }
  const text = await readFile(output, "utf8").catch(() => "");
  const tail = text.trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
  const hint =
    (code === null ? "it ran out of time. " : "") +
    (failures < allowed
      ? "find the cause, fix it once, run it again"
      : "no try is left: commit what there is, then end with what is missing");
  return { ...plain, result: "fail", tail, hint };
}

/** What the job `gate` does. The failure that uses up the bound ends the attempt. */
export async function runGateJob({ journal, state, attempt, place }: Own, name: string): Promise<void> {
  const command = state.gates.find((each) => each.name === name) as Command;
  const evidence = await prove(journal, command, place, "worker", [attempt.id], state.setup);
  const allowed = state.blueprint.bounds.failures;
  const isLast = evidence.code !== 0 && (attempt.failures[name] ?? 0) + 1 >= allowed;
  const note = `${name} failed ${allowed} times, last: ${evidence.output}.`;
  const ended = { event: "ended", attempt: attempt.id, reason: "gate-failed", note } as const;
  await journal.add({ event: "evidence", ...evidence }, ...(isLast ? [ended] : []));
}
