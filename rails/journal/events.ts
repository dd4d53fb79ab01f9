import * as v from "valibot";
import type { Blueprint } from "../blueprint/blueprint.ts";
import type { Phase } from "../blueprint/workflow.ts";
import type { Plan, PlannedTask } from "../plan/task.ts";
import type { ProcessMark } from "../program/process.ts";
import type { Beside, Candidate, Command, Estimate, Reason, Usage } from "./shapes.ts";

// The shape of each event stands here once: it gives the type of what is written, and the check of
// what is read. What is another room's to check has only to be there; a field that older versions
// did not write has what they meant as its fallback.

const text = v.string();
const number = v.number();
const flag = v.boolean();
const given = <T>() => v.custom<T>((value) => value !== undefined);
const listOf = <T>() => v.custom<readonly T[]>(Array.isArray);
const texts = listOf<string>();
const textOrNull = v.nullable(text);

/** Whose a run is: the session, and the client's process; null outside of a session. */
const session = {
  session: v.optional(text, ""),
  owner: v.optional(v.nullable(given<ProcessMark>()), null),
};

/** What a task's own commits amount to, oldest first. */
const result = {
  head: text,
  tree: text,
  commits: texts,
  paths: texts,
  deleted: texts,
};

const evidence = v.object({
  gate: text,
  // Only landing's own, made in the rails' own worktree, moves the line.
  by: v.picklist(["worker", "landing"]),
  attempts: texts, // A worker's, or those that landing proved together; none on the base
  tree: text, // `git write-tree` of all that is not ignored, before the command ran
  changed: texts, // Paths that it changed or removed: it spoke of other files than it left
  // What a setup changed and was undone: the blob that it left at each path; zeros where none.
  undone: v.optional(given<Readonly<Record<string, string>>>()),
  beside: v.optional(listOf<Beside>()), // What it changed in config, hooks and refs, or somebody else
  made: texts, // What it made beside them: nobody's work, and part of no tree while untracked
  command: text,
  cwd: v.optional(text, ""),
  setup: v.optional(text, ""),
  code: v.optional(v.nullable(number), null), // Exit code; null where it ran out of time
  untested: v.optional(flag, false), // Its runner says that it tested nothing
  failing: v.optional(text), // The line by which its runner sums failures up, where it ended with 0
  // Red, but in nothing that was not red on the base, and a person went on over that.
  known: v.optional(flag, false),
  ms: v.optional(number, 0),
  errors: v.optional(texts), // Lines that name failures, as far as they are alike in every run
  output: text, // Raw output without secrets, relative to the run's folder
});

/** All that can be written to a journal, by name. Each line also has `at`, milliseconds since 1970,
 * and `event`, its name; `slept` where the machine has slept. */
const EVENTS = {
  started: v.object({
    ...session,
    version: v.optional(v.literal(1), 1),
    run: text,
    base: text,
    line: text,
    prefix: text,
    blueprint: given<Blueprint>(),
    gates: listOf<Command>(), // The blueprint's gates as commands, in order
    setup: v.optional(v.nullable(given<Command>()), null), // What sets a fresh worktree up
    tasks: listOf<PlannedTask>(),
    workflows: given<Readonly<Record<string, readonly Phase[]>>>(), // Those that tasks name
    // By risk: for tasks whose own workflow has no phase that judges.
    reviews: v.optional(given<Readonly<Record<string, readonly Phase[]>>>(), {}),
    goal: v.optional(text, ""),
    success: v.optional(text, ""),
    // What of that no command shows, where it is to be judged once all has landed
    successWords: v.optional(text, ""),
    // Commands that the list says itself
    toolsSaid: v.optional(given<Plan["toolsSaid"]>(), {}),
    estimate: v.optional(v.nullable(given<Estimate>()), null), // What it was expected to take
    budget: v.optional(v.nullable(number), null), // Dollars after which nothing more is dispatched
    // Is the line proven once more at the end, with nothing beside it that a clone would not have?
    fresh: v.optional(flag, false),
    conflicts: listOf<readonly [string, string]>(),
    // How urgent each task is: the highest is dispatched first.
    priority: given<Readonly<Record<string, number>>>(),
  }),
  /** `agent`: what is added after a failure; `variant`: which of several that are to be chosen
   * from, from 1 on; `order`: those attempts as their judge is to see them, drawn by lot. */
  dispatched: v.object({
    task: text,
    attempt: text,
    phase: text,
    agent: v.optional(text),
    model: v.optional(text),
    variant: v.optional(number),
    order: v.optional(texts),
  }),
  /** `transcript`: of the session that started it, where the client keeps its own. */
  launched: v.object({ attempt: text, agent: text, transcript: v.optional(text) }),
  /** What a transcript of so many bytes says was used: an attempt's, or with null a session's that
   * led the run. */
  spent: v.object({
    attempt: v.optional(textOrNull, null),
    transcript: text,
    size: v.optional(number, 0),
    usage: listOf<Usage>(),
  }),
  /** It used a tool: written now and then, so that long thinking is not taken for a stall. */
  alive: v.object({ attempt: text }),
  /** For lack of permission: a command or path, as one line. */
  refused: v.object({ attempt: text, tool: v.optional(text, ""), what: v.optional(text, "") }),
  /** `base`: above it lie the task's own commits; `from`: where the worker began, where that is
   * neither the base nor where the work before it ended. */
  begun: v.object({
    attempt: text,
    worktree: text,
    branch: text,
    base: text,
    foundBranch: text,
    from: v.optional(text),
  }),
  /** `token`: of one of which there may be several, the newest of which counts. */
  job: v.object({
    name: text,
    attempt: v.optional(textOrNull, null),
    process: given<ProcessMark>(),
    token: v.optional(text),
  }),
  "job-ended": v.object({
    name: text,
    attempt: v.optional(textOrNull, null),
    error: v.optional(textOrNull, null),
  }),
  evidence,
  "sent-back": v.object({ attempt: text, reason: text, tree: text }),
  /** What only a person lets through, told to the worker once for the same files. */
  objection: v.object({ attempt: text, reason: given<Reason>(), what: texts, tree: text }),
  /** `verdict`: what a phase that judges came to; its handoff is what it found. `red`: of a round,
   * the gates that did not come out as they have to. */
  submitted: v.object({
    ...result,
    attempt: text,
    handoff: text,
    verdict: v.optional(v.picklist(["pass", "fail"])),
    byHand: v.optional(flag),
    red: v.optional(texts),
  }),
  /** What the `Measure:` of a task says of a variant; null: nothing, so that it is out. */
  measured: v.object({ attempt: text, value: v.nullable(number), output: text }),
  /** Of a task's variants, the one that goes on; `by`: what chose it. */
  picked: v.object({ task: text, attempt: text, by: v.picklist(["measure", "judge", "only"]) }),
  /** No more variants of a task are started: the money is spent. */
  "variants-closed": v.object({ task: text }),
  nothing: v.object({ attempt: text, why: text }),
  /** An attempt is over without a result. */
  ended: v.object({
    attempt: text,
    reason: given<Reason>(),
    note: text,
    until: v.optional(number), // When the limit that ended it is over, where that was told
  }),
  /** A mergeable attempt did not make it onto the line. */
  "not-landed": v.object({ attempt: text, reason: given<Reason>(), note: text }),
  /** Written before the line moves, so that after a crash in between git can tell. */
  /** `dropped`: the ids of tasks that it takes back. */
  proven: v.object({
    from: text,
    to: text,
    tree: text,
    landed: listOf<Candidate>(),
    dropped: v.optional(texts),
  }),
  landed: v.object({ to: text }),
  /** Gates that are red on the base: nothing is dispatched over one … */
  "base-checked": v.object({ red: texts }),
  /** … before a person says so. */
  "base-accepted": v.object({ red: v.optional(texts, []) }),
  /** The gates that are for the end, on the line as it stood there; `red`: in words what was. The
   * first that is red opens the task `end`, which is to mend that. */
  "end-checked": v.object({
    tip: v.optional(text, ""),
    red: v.optional(textOrNull, null),
    checks: v.optional(texts), // Commands of `Verify:` among what is red
  }),
  /** It stood where landing had not put it. */
  "line-restored": v.object({ from: v.optional(text, ""), to: v.optional(text, "") }),
  /** What merging the line as it stood (`tip`) into a branch as it stood (`from`) gives; `red`: why
   * it cannot be. */
  "merge-built": v.object({ branch: text, from: text, tip: text, to: text, red: textOrNull }),
  merged: v.object({ branch: v.optional(text, ""), to: text }),
  /** `words`: what a person says to whoever goes on. */
  retried: v.object({ task: text, words: v.optional(text, "") }),
  /** What a task's `Each:` did not list, or in words why. */
  "not-listed": v.object({ task: text, note: text }),
  /** The `Verify:` of a task that is made of others, on the line as it stood there; `red`: in words
   * what was. */
  "whole-checked": v.object({ task: text, tip: text, red: textOrNull }),
  /** The plan as it is from here on: `tasks`, new or in place of those with their ids; `removed`:
   * those that there are no more; `loosened`: in words what only a person may loosen. The rest is
   * that of all tasks, as in `started`; `waves` by id. */
  changed: v.object({
    session: v.optional(text, ""), // Who did it; empty outside of a session
    by: v.optional(text), // The attempt of a planner that did it
    listed: v.optional(text), // The task whose `Each:` listed all that is new …
    leftOut: v.optional(number), // … and how many of its lines were blank or there already
    tasks: listOf<PlannedTask>(),
    removed: texts,
    loosened: texts,
    waves: given<Readonly<Record<string, number>>>(),
    conflicts: listOf<readonly [string, string]>(),
    priority: given<Readonly<Record<string, number>>>(),
    workflows: given<Readonly<Record<string, readonly Phase[]>>>(),
    isUndo: v.optional(flag, false),
  }),
  /** The rails of the run from here on: those of the project as they are then. */
  "rails-changed": v.object({
    blueprint: given<Blueprint>(),
    gates: listOf<Command>(),
    setup: v.nullable(given<Command>()),
    workflows: given<Readonly<Record<string, readonly Phase[]>>>(),
    reviews: given<Readonly<Record<string, readonly Phase[]>>>(),
  }),
  /** Nobody works at it before a person says so; `question`: what it waits for, empty where it was
   * only stopped. */
  stopped: v.object({ task: text, question: v.optional(text, "") }),
  /** Not to be done, of tasks that have not landed … */
  dropped: v.object({ tasks: texts, by: v.optional(text) }),
  /** … and of those that have: to be taken back from the line, which `proven` then says … */
  dropping: v.object({ tasks: texts }),
  /** … or they stay. */
  "not-dropped": v.object({ tasks: texts, note: text }),
  /** What its session was told, by keys: it is told of the same once. */
  told: v.object({ keys: texts }),
  /** Its session has lost what it was told. */
  forgotten: v.object({}),
  /** The session that had lost what it knew ended its turn, and was told to go on. */
  "sent-on": v.object({}),
  /** Who waited in its place woke it, with these to launch; none where there is more to do, since
   * its turn is over with the launch of all. */
  woken: v.object({ attempts: texts, process: v.optional(v.nullable(given<ProcessMark>()), null) }),
  /** The person was called for these, by keys: for the same once. */
  notified: v.object({ keys: texts }),
  /** Its session ended a turn with work ready, and was told so. */
  reminded: v.object({ what: v.optional(text, "") }),
  /** What the run had cost then, and what it may cost from now on. */
  owner: v.object({ ...session, dollars: v.optional(number), budget: v.optional(number) }),
  aborted: v.object({ note: v.optional(text, "") }),
};

export type EventName = keyof typeof EVENTS;
export type EventData = { [N in EventName]: Readonly<v.InferOutput<(typeof EVENTS)[N]>> };
export type NewEvent = { [N in EventName]: { readonly event: N } & EventData[N] }[EventName];
export type Event<N extends EventName = EventName> = Extract<NewEvent, { event: N }> & {
  readonly at: number;
  readonly slept?: number | undefined; // How long the machine had slept by then, in milliseconds
};

/** What a gate leaves. It holds for this tree, command and setup, and no other. */
export type Evidence = EventData["evidence"];

const isKnown = (name: string): name is EventName => Object.hasOwn(EVENTS, name);
const HEAD = v.object({ at: number, event: text, slept: v.optional(number) });

/** An event as it stands in a journal.
 * @returns null where it says nothing any more, since its line is torn or was edited; `unknown` for
 *   one that only a later version knows, which is nobody's business here */
export function eventIn(value: unknown): Event | "unknown" | null {
  const head = v.safeParse(HEAD, value);
  if (!head.success) return null;
  const { event, ...when } = head.output;
  if (!isKnown(event)) return "unknown";
  const data = v.safeParse(EVENTS[event], value);
  return data.success ? ({ ...when, event, ...data.output } as Event) : null;
}
