import type { ProcessMark } from "../program/process.ts";

/** What is likely, and what about one of four is below or above. */
export type Spread = Readonly<{ low: number; likely: number; high: number }>;

/** Tokens that a model is paid for, as the service counts them: fresh input, written to the cache
 * for five minutes and for an hour, read from it, and output. */
export const TOKENS = ["input", "write", "writeHour", "read", "output"] as const;

/** Something for each kind of tokens: how many, unless said otherwise. */
export type Tokens<T = number> = Readonly<Record<(typeof TOKENS)[number], T>>;

/** What one model was used for: requests, and tokens of each kind. */
export type Usage = Readonly<{ model: string; requests: number }> & Tokens;

/** What a list takes until all of it is handed in, without landing and failed attempts. */
export type Estimate = Readonly<{
  workers: number;
  minutes: Spread;
  basis: string; // Where the minutes come from, in words
  each: Spread; // Minutes of one dispatch
  oneByOne: number; // Minutes with one worker
  dollars: Spread | null; // Null where a model is unpriced
  // Of one dispatch of a task that names no model; null without its price. Older runs have none
  perWorker?: Spread | null;
  unpriced: readonly string[];
  tokens: number; // Likely, those read from the cache among them
  tokenBasis: string;
  // What is likely, in order of dispatch.
  perTask: readonly Readonly<{ id: string; minutes: number; dollars: number | null }>[];
}>;

/** What a task can be. This set and the next are closed: prompts and reports use these words and no
 * others. */
export const STATES = [
  "waiting",
  "ready",
  "running",
  "mergeable",
  "landed",
  "verify-failed",
  "needs-human",
  "blocked",
  "skipped",
  "dropped",
] as const;
export type State = (typeof STATES)[number];

/** Why a task is in its state, where the state alone does not say it. */
export const REASONS = [
  "alarm",
  "base-red",
  "budget",
  "changed",
  "conflict",
  "cut-off",
  "dependency",
  "dispatches",
  "dropped",
  "fault",
  "findings",
  "forbidden",
  "gate-failed",
  "high-risk",
  "ignored",
  "line-red",
  "never-began",
  "others-work",
  "permission",
  "proof-changed",
  "question",
  "rate-limit",
  "session-lost",
  "setup-failed",
  "stalled",
  "stopped",
  "stuck",
  "unproven",
] as const;
export type Reason = (typeof REASONS)[number];

/** What an end without a result says. `cause`: the `work`, so that the next worker takes another
 * approach; `nobody`, so that it counts against no bound; the `line`, so that the same is done
 * again on it as it is now; what only a `person` decides. `isEarly`: the worker may not have known
 * of it, so that a result which comes after it is as good as any. */
type AttemptEnd = Readonly<{ cause?: "work" | "nobody" | "line" | "person"; isEarly?: true }>;

const ENDS: Partial<Record<Reason, AttemptEnd>> = {
  "gate-failed": { cause: "work" },
  stuck: { cause: "work" },
  "line-red": { cause: "work" },
  unproven: { cause: "work", isEarly: true },
  "cut-off": { cause: "work", isEarly: true },
  stalled: { isEarly: true },
  permission: { isEarly: true },
  "rate-limit": { cause: "nobody", isEarly: true },
  "session-lost": { cause: "nobody" },
  changed: { cause: "nobody" },
  dropped: { cause: "nobody" },
  conflict: { cause: "line" },
  forbidden: { cause: "person" },
  ignored: { cause: "person" },
  "others-work": { cause: "person" },
  "proof-changed": { cause: "person" },
  stopped: { cause: "person" },
};

/** What such an end says; nothing where there was none. */
export const endOf = (reason: Reason | undefined): AttemptEnd => (reason && ENDS[reason]) ?? {};

/** Whose a run is: the session, and the client's process, which tells a dead session from a silent
 * one. */
export type Session = Readonly<{ session: string; owner: ProcessMark | null }>;

/** A command of the project: shell text, its folder from the worktree's top, and its limit in
 * seconds; `isLast`: a gate for the line once all have landed; `isCheck`: of a task's `Verify:` or
 * the list's `success:`, which is new, so that nothing of it is known from the base. */
export type Command = Readonly<{
  name: string;
  run: string;
  cwd: string;
  timeout: number;
  isLast?: boolean;
  isCheck?: boolean;
}>;

/** An attempt and its own commits, oldest first; `skipped`: how many of them changed nothing on the
 * line. */
export type Candidate = Readonly<{ attempt: string; commits: readonly string[]; skipped?: number }>;

/** Something that is other after a command ran, in what all worktrees share: a key of the
 * repository's config, `hooks/pre-commit`, a ref; null where there is none. `isBack`: taken back. */
export type Beside = Readonly<{
  name: string;
  was: string | null;
  became: string | null;
  isBack: boolean;
}>;
