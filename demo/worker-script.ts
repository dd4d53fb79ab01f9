import { join } from "node:path";
import {
  bash,
  calls,
  edit,
  type Outcome,
  quote,
  type Speaker,
  type Talk,
  type Turn,
  write,
} from "./talk.ts";

/** One thing that a worker does to its worktree. Paths are relative to the repository's root. */
export type Step =
  | { readonly write: string; readonly content: string }
  | { readonly edit: string; readonly from: string; readonly to: string }
  | { readonly run: string };

/** How a task is done. */
export interface ScriptedTask {
  readonly steps: readonly Step[];
  /** The commit's message. */
  readonly commit: string;
  /** What is left for whoever comes next. */
  readonly handoff: string;
}

/** A worker in the middle of its work. */
export interface Worker {
  /** `<run>/<task>.<n>` */
  readonly attempt: string;
  readonly task: string;
  /** Which try at the task this is, from 1. */
  readonly try: number;
  readonly edits: ScriptedTask;
  /** The last turn: where it works, which tools it has. */
  readonly turn: Turn;
}

/** What a worker does from its first turn to its end. */
export type Behaviour = (worker: Worker) => Talk;

/** Calls that may answer «still running»: an hour and a half at the rails' 90 seconds each. */
const CALLS = 60;

/** The command that a prompt names: the attempt, in it the task and which try at that it is. */
const BEGIN = /minion begin ((?:[^\s`/]+\/)?([^\s`]+)\.(\d+))/;

/** The worker as a script: it runs the command that its prompt names and goes on as its behaviour
 * says.
 * @param tasks how each task is done, by id
 * @param behaviours which tasks are done in another way than well, by id */
export function worker(
  tasks: Readonly<Record<string, ScriptedTask>>,
  behaviours: Readonly<Record<string, Behaviour>> = {},
): Speaker {
  return async function* (turn) {
    const [, attempt = "", task = "", number] = BEGIN.exec(turn.text) ?? [];
    const edits = tasks[task];
    if (!edits) {
      yield [`Nobody said how to do ${task || "this"}.`];
      return;
    }
    yield* (behaviours[task] ?? good)({ attempt, task, try: Number(number), edits, turn });
  };
}

/** Does the task, proves it, hands it over; sent back, it proves and hands over what is there once
 * more. */
export const good: Behaviour = async function* (worker) {
  yield* begin(worker);
  yield* apply(worker, worker.edits.steps);
  for (;;) {
    const gate = yield* gates();
    yield* commit(worker);
    if (gate.code !== 0) {
      yield* end(worker, notDone(worker, "the gates fail and I have no fix", gate));
      continue;
    }
    const submitted = yield* submit(worker);
    const isTaken = submitted.code === 0;
    const last = isTaken ? `${worker.attempt} handed in` : notDone(worker, "not taken", submitted);
    yield* end(worker, last);
  }
};

/** Commits its work and says that it is tested, without a gate ever run; sent back, it says so
 * again. */
export const claimsWithoutRunning: Behaviour = async function* (worker) {
  yield* begin(worker);
  yield* apply(worker, worker.edits.steps);
  yield* commit(worker);
  for (;;) yield* end(worker, "All tests pass. Everything is done.");
};

/** Tries one fix that fixes nothing, and stops with a note. */
export function failsTwice(breaks: Step, fix: Step): Behaviour {
  return async function* (worker) {
    yield* begin(worker);
    yield* apply(worker, [...worker.edits.steps, breaks]);
    yield* gates();
    yield* apply(worker, [fix]);
    const second = yield* gates();
    yield* commit(worker);
    for (;;) yield* end(worker, notDone(worker, "red after one fix", second));
  };
}

/** Ends without ever having asked for its task. */
export const neverBegins: Behaviour = async function* (worker) {
  for (;;) yield* end(worker, "I looked around and there is nothing to do.");
};

/** Asks for the task. Where the rails refuse, that is all that the worker does. */
export async function* begin(worker: Worker): Talk {
  const begun = yield* again(`minion begin ${quote(worker.attempt)}`);
  while (begun.code !== 0) yield* end(worker, notDone(worker, "could not begin", begun));
}

/** Does steps, one after another. */
export async function* apply(worker: Worker, steps: readonly Step[]): Talk {
  const folder = workingDirectory(worker.turn);
  for (const step of steps) {
    if ("write" in step) yield* write(join(folder, step.write), step.content);
    else if ("edit" in step) yield* edit(join(folder, step.edit), step.from, step.to);
    else yield* bash(step.run);
  }
}

/** Runs all gates. */
export async function* gates(): Talk<Outcome> {
  return yield* again("minion gate --all");
}

/** Runs a command of the rails, and again while it says that it is still running. */
async function* again(command: string): Talk<Outcome> {
  let outcome = yield* bash(command);
  for (let call = 1; outcome.code === 75 && call < CALLS; call++) outcome = yield* bash(command);
  return outcome;
}

/** Commits all that is there. A tree without changes is no fault: a worker sent back has committed
 * before. */
export async function* commit(worker: Worker): Talk<Outcome> {
  yield* bash("git add -A");
  return yield* bash(`git commit -m ${quote(worker.edits.commit)}`);
}

/** Hands over what is committed. The quoted word keeps the shell from reading the handoff. */
export async function* submit(worker: Worker): Talk<Outcome> {
  return yield* again(`minion submit <<'HANDOFF'\n${worker.edits.handoff}\nHANDOFF`);
}

/** Ends the worker's work with a last message. Returns only where the rails do not let it go, with
 * what they say: a refused hand-back in auto mode, the answer of a hook at its end otherwise. */
export async function* end(worker: Worker, message: string): Talk<string> {
  if (!worker.turn.request.tools.includes("SubagentHandback")) return (yield [message]).text;
  const [outcome] = yield* calls({ tool: "SubagentHandback", input: { message } });
  return outcome?.output ?? "";
}

/** Where the client says that the worker works. */
export function workingDirectory({ text }: Turn): string {
  return /working directory: (\S.*)/i.exec(text)?.[1]?.trim() ?? ".";
}

/** The last message of a worker without a result: one line, since it goes into the orchestrator's
 * context. */
function notDone({ attempt }: Worker, why: string, { output }: Outcome): string {
  return `${attempt} not done: ${why}: ${output.trim().split("\n").at(-1)?.slice(0, 200)}`;
}
