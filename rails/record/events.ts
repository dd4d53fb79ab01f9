import type { Blueprint } from "../blueprint/blueprint.ts";
import type { Phase } from "../blueprint/workflow.ts";
import type { Result } from "../git/repository.ts";
import type { Estimate } from "../plan/estimate.ts";
import type { PlannedTask } from "../plan/task.ts";
import type { Usage } from "./usage.ts";

// Both sets are closed: prompts and reports use these words and no others.
export type State =
  | ("waiting" | "ready" | "running" | "mergeable" | "landed")
  | ("verify-failed" | "needs-human" | "blocked" | "skipped");

/** Why a task is in its state, where the state alone does not say it. */
export type Reason =
  | (
      | "dependency"
      | "never-began"
      | "setup-failed"
      | "unproven"
      | "gate-failed"
      | "stuck"
      | "stalled"
      | "cut-off"
    )
  | (
      | "session-lost"
      | "conflict"
      | "line-red"
      | "dispatches"
      | "base-red"
      | "forbidden"
      | "proof-changed"
    )
  | ("permission" | "rate-limit" | "findings" | "high-risk" | "alarm" | "budget");

/** What an end without a result says. `cause`: the `work`, so that the next worker takes another
 * approach; `nobody`, so that it counts against no bound; the `line`, so that the same is done
 * again on it as it is now; what only a `person` decides. `isEarly`: the worker may not have known
 * of it, so that a result which comes after it is as good as any. */
type End = Readonly<{ cause?: "work" | "nobody" | "line" | "person"; isEarly?: true }>;
const ENDS: Partial<Record<Reason, End>> = {
  "gate-failed": { cause: "work" },
  stuck: { cause: "work" },
  "line-red": { cause: "work" },
  unproven: { cause: "work", isEarly: true },
  "cut-off": { cause: "work", isEarly: true },
  stalled: { isEarly: true },
  permission: { isEarly: true },
  "rate-limit": { cause: "nobody", isEarly: true },
  "session-lost": { cause: "nobody" },
  conflict: { cause: "line" },
  forbidden: { cause: "person" },
  "proof-changed": { cause: "person" },
};
export const endOf = (reason: Reason | undefined): End => (reason && ENDS[reason]) ?? {};

export type Verdict = "pass" | "fail";

/** A process, told apart from a later one with the same number by when it started. */
export type ProcessMark = Readonly<{ pid: number; started: string }>;

/** Whose a run is: the session, and the client's process, which tells a dead session from a silent
 * one. */
export type Session = Readonly<{ session: string; owner: ProcessMark | null }>;

/** A command of the project: shell text, its folder from the worktree's top, and its limit in
 * seconds; `isLast`: a gate for the line once all have landed. */
export type Command = Readonly<{
  name: string;
  run: string;
  cwd: string;
  timeout: number;
  isLast?: boolean;
}>;

/** What a gate leaves. It holds for this tree, command and setup, and no other. */
export interface Evidence {
  readonly gate: string;
  readonly by: "worker" | "landing"; // Only landing's own, made in the rails' own worktree, moves the line
  // A worker's, or those that landing proved together; none on the base
  readonly attempts: readonly string[];
  readonly tree: string; // `git write-tree` of all that is not ignored, before the command ran
  // Paths that it changed or removed: it spoke of other files than it left
  readonly changed: readonly string[];
  // What it made beside them: nobody's work, and part of no tree while untracked
  readonly made: readonly string[];
  readonly command: string;
  readonly cwd: string;
  readonly setup: string;
  readonly code: number | null; // Exit code; null where it ran out of time
  readonly untested: boolean; // Its runner says that it tested nothing
  // Red, but in nothing that was not red on the base, and a person went on over that
  readonly known: boolean;
  readonly ms: number;
  // Lines that name failures, as far as they are alike in every run
  readonly errors?: readonly string[];
  readonly output: string; // Raw output without secrets, relative to the run's folder
}

/** All that can be written to a journal, by name. Each line also has `at`, milliseconds since 1970.
 */
export interface EventData {
  started: Session & {
    version: 1;
    run: string;
    base: string;
    line: string;
    prefix: string;
    blueprint: Blueprint;
    // The blueprint's gates as commands, in order, and what sets a fresh worktree up
    gates: readonly Command[];
    setup: Command | null;
    tasks: readonly PlannedTask[];
    workflows: Readonly<Record<string, readonly Phase[]>>; // Those that tasks name
    // By risk: for tasks whose own workflow has no phase that judges
    reviews: Readonly<Record<string, readonly Phase[]>>;
    goal: string;
    success: string;
    estimate: Estimate | null; // What it was expected to take
    budget: number | null; // Dollars after which nothing more is dispatched
    conflicts: readonly (readonly [string, string])[];
    // How urgent each task is: the highest is dispatched first
    priority: Readonly<Record<string, number>>;
  };
  /** `agent`: what is added after a failure. */
  dispatched: { task: string; attempt: string; phase: string; agent?: string; model?: string };
  /** `transcript`: of the session that started it, where the client keeps its own. */
  launched: { attempt: string; agent: string; transcript?: string };
  /** What a transcript of so many bytes says was used: an attempt's, or with null a session's that
   * led the run. */
  spent: { attempt: string | null; transcript: string; size: number; usage: readonly Usage[] };
  // It used a tool: written now and then, so that long thinking is not taken for a stall
  alive: { attempt: string };
  // For lack of permission: a command or path, as one line
  refused: { attempt: string; tool: string; what: string };
  begun: { attempt: string; worktree: string; branch: string; base: string; foundBranch: string };
  job: { name: string; attempt: string | null; process: ProcessMark };
  "job-ended": { name: string; attempt: string | null; error: string | null };
  evidence: Evidence;
  "sent-back": { attempt: string; reason: string; tree: string };
  /** What only a person lets through, told to the worker once for the same files. */
  objection: { attempt: string; reason: Reason; what: readonly string[]; tree: string };
  /** `verdict`: what a phase that judges came to; its handoff is what it found. */
  submitted: Result & { attempt: string; handoff: string; verdict?: Verdict; byHand?: boolean };
  nothing: { attempt: string; why: string };
  ended: { attempt: string; reason: Reason; note: string }; // An attempt is over without a result
  // A mergeable attempt did not make it onto the line
  "not-landed": { attempt: string; reason: Reason; note: string };
  /** Written before the line moves, so that after a crash in between git can tell. */
  proven: { from: string; to: string; tree: string; landed: readonly Candidate[] };
  landed: { to: string };
  // Gates that are red on the base: nothing is dispatched over one …
  "base-checked": { red: readonly string[] };
  "base-accepted": { red: readonly string[] }; // … before a person says so
  /** The gates that are for the end, on the line as it stood there; `red`: in words what was. The
   * first that is red opens the task `end`, which is to mend that. */
  "end-checked": { tip: string; red: string | null };
  "line-restored": { from: string; to: string }; // It stood where landing had not put it
  /** What merging the line as it stood (`tip`) into a branch as it stood (`from`) gives; `red`: why
   * it cannot be. */
  "merge-built": { branch: string; from: string; tip: string; to: string; red: string | null };
  merged: { branch: string; to: string };
  retried: { task: string };
  reminded: { what: string }; // Its session ended a turn with work ready, and was told so
  // What the run had cost then, and what it may cost from now on
  owner: Session & { dollars?: number; budget?: number };
  aborted: { note: string };
}

/** An attempt and its own commits, oldest first; `skipped`: how many of them changed nothing on the
 * line. */
export type Candidate = Readonly<{ attempt: string; commits: readonly string[]; skipped?: number }>;

export type EventName = keyof EventData;
export type NewEvent = {
  [N in EventName]: { readonly event: N } & Readonly<EventData[N]>;
}[EventName];
export type Event<N extends EventName = EventName> = Extract<NewEvent, { event: N }> & {
  readonly at: number;
};
