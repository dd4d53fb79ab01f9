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
  readonly result: "pass" | "fail" | "changed-files" | "refused" | "running";
  readonly reused: boolean;
  /** Failed runs so far and how many there may be. */
  readonly failures: number;
  readonly allowed: number;
  readonly seconds: number;
  /** Raw output, absolute. */
  readonly output: string | null;
  readonly tail: string;
  readonly hint: string;
}

const EXITS: Record<GateResult["result"], ExitCode> = {
  pass: EXIT.done,
  fail: EXIT.refused,
  "changed-files": EXIT.refused,
  refused: EXIT.usage,
  running: EXIT.running,
};
const TAIL_LINES = 40;

/**
 * Runs one gate, or all in order until one does not pass, on the files as they lie there; evidence for them is reused.
 * @param name null for all
 * @throws Fault `no-gate`, `over`
 */
export async function gate(
  name: string | null,
  cwd: string,
  until: number,
): Promise<{ results: GateResult[]; exit: ExitCode }> {
  const own = await ownAttempt(cwd);
  const gates = own.state.gates.filter((each) => name === null || each.name === name);
  if (gates.length === 0) {
    const known = own.state.gates.map((each) => each.name).join(", ");
    throw new Fault("no-gate", `there is no gate ${name}`, `gates are ${known}; --all runs them in order`, EXIT.usage);
  }
  const results: GateResult[] = [];
  for (const each of gates) {
    const result = await runGate(own, each, until);
    results.push(result);
    if (result.result !== "pass") return { results, exit: EXITS[result.result] };
  }
  return { results, exit: EXIT.done };
}

async function runGate(own: Own, command: Command, until: number): Promise<GateResult> {
  const { place, journal, attempt } = own;
  const tree = await treeOf(place.top, place.gitDir);
  const reused = evidenceFor(own.state, command, tree);
  const failures = attempt.failures[command.name] ?? 0;
  const allowed = own.state.blueprint.bounds.failures;
  const plain = { gate: command.name, reused: false, failures, allowed, seconds: 0, output: null, tail: "", hint: "" };
  if (reused) return described(own, reused, true);
  if (!isActive(attempt) || failures >= allowed)
    return {
      ...plain,
      result: "refused",
      hint: "this attempt is over: commit what there is, then end with what is missing",
    };
  const answer = await attach(
    journal,
    { name: `gate ${attempt.id} ${command.name}`, args: ["gate", command.name], cwd: place.top },
    (state) => evidenceFor(state, command, tree),
    until,
  );
  if ("running" in answer) return { ...plain, result: "running", hint: "call the same again: it goes on meanwhile" };
  if ("error" in answer)
    throw new Fault("gate-broken", `gate ${command.name} could not run: ${answer.error}`, "run it again", EXIT.writing);
  return described({ ...own, ...(await ownAttempt(place.top)) }, answer.result, false);
}

async function described(
  { journal, attempt, state, place }: Own,
  evidence: Evidence,
  reused: boolean,
): Promise<GateResult> {
  const failures = attempt.failures[evidence.gate] ?? 0;
  const allowed = state.blueprint.bounds.failures;
  const result = isPass(evidence) ? "pass" : evidence.code === 0 ? "changed-files" : "fail";
  const output = join(journal.folder, evidence.output);
  const changed = result === "changed-files" ? await pathsBetween(evidence.tree, evidence.treeAfter, place.top) : [];
  const hints = {
    pass: "",
    fail:
      failures < allowed
        ? "find the cause, fix it once, run it again"
        : "no try is left: commit what there is, then end with what is missing",
    "changed-files": `it changed ${changed.slice(0, 5).join(", ")}: look at that, then run it again`,
  };
  const text = result === "fail" ? await readFile(output, "utf8").catch(() => "") : "";
  const tail = text.trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
  const late = evidence.timedOut ? "it ran out of time. " : "";
  return {
    gate: evidence.gate,
    result,
    reused,
    failures,
    allowed,
    seconds: evidence.ms / 1000,
    output,
    tail,
    hint: late + hints[result],
  };
}

/** What the job `gate` does. The failure that uses up the bound ends the attempt. */
export async function runGateJob(name: string, cwd: string): Promise<void> {
  const { journal, state, attempt, place } = await ownAttempt(cwd);
  const command = state.gates.find((each) => each.name === name) as Command;
  const evidence = await prove(journal, command, place, "worker", [attempt.id], state.setup);
  const last = evidence.code !== 0 && (attempt.failures[name] ?? 0) + 1 >= state.blueprint.bounds.failures;
  const note = `${name} failed ${state.blueprint.bounds.failures} times, last: ${evidence.output}.`;
  await journal.add(
    { event: "evidence", ...evidence },
    ...(last ? [{ event: "ended", attempt: attempt.id, reason: "gate-failed", note } as const] : []),
  );
}
