import { type Alarm, alarmsOf } from "../foreman/alarms.ts";
import { type Attention, attentionOf } from "../foreman/attention.ts";
import { SUCCESS } from "../journal/end-task.ts";
import { isNone, missingSlots, slotsOf } from "../journal/handoff.ts";
import { isOpen, isWaiting, type RunState, type TaskState } from "../journal/state.ts";
import type { Cost } from "../money/cost.ts";
import { grouped } from "../plan/collections.ts";
import { code, inline, prose } from "../program/shown.ts";
import { branchRef, typed, word } from "../program/typed.ts";
import type { Size } from "./flows-text.ts";
import { landingOf } from "./landed.ts";
import { countsOf, ownWork, rootsOf } from "./tree.ts";

// What more than one view of a whole run says, as Markdown.

/** What is known of a run beside its journal. */
export type Seen = Readonly<{
  folder: string; // The run's, where raw output lies
  cost: Cost | null; // Null where prices cannot be read
  now: number; // Milliseconds since 1970
  faults: readonly Attention[]; // Of the run as a whole, for a person to put right
  sizes: ReadonlyMap<string, Size>; // How much variants changed, by attempt
  worktrees: ReadonlySet<string>; // Those of attempts that are still there
  remote: Remote | null; // Where its line can be pushed to
}>;

/** What the run is for. */
export function intentText({ goal, success }: RunState): string[] {
  const said: string[] = [];
  if (goal) said.push(inline(goal));
  if (success) said.push(`A success if: ${inline(success)}`);
  return said.length > 0 ? [`${said.join(" ")}\n`] : [];
}

/** How many tasks of a run landed. */
export function titleText(state: RunState): string {
  const tasks = ownWork(state).filter(({ id }) => id !== SUCCESS);
  const { landed = 0, total } = countsOf(tasks);
  return `# Run ${state.run}: ${landed} of ${total} landed\n`;
}

/** The tasks that are part of no other: those that landed, in the order of landing, and the rest.
 * The one that judges the whole is neither. */
export function apart(state: RunState): { landed: TaskState[]; rest: TaskState[] } {
  const all = rootsOf(state).filter(({ id }) => id !== SUCCESS);
  const placeOf = (task: TaskState): number =>
    landingOf(state, task)?.place ?? Number.MAX_SAFE_INTEGER;
  const landed = all.filter((task) => task.state === "landed");
  return {
    landed: landed.sort((a, b) => placeOf(a) - placeOf(b)),
    rest: all.filter((task) => task.state !== "landed"),
  };
}

/** What waits for a person in a run, and its alarms where it goes on. */
export function askingNow(
  state: RunState,
  { cost, now, faults }: Pick<Seen, "cost" | "now" | "faults">,
): { alarms: readonly Alarm[]; attention: readonly Attention[] } {
  const at = { dollars: cost?.dollars ?? null, now };
  const alarms = isOpen(state) ? alarmsOf(state, at) : [];
  return { alarms, attention: [...faults, ...attentionOf(state, alarms, at)] };
}

/** A section with its title; nothing where there is nothing to say. */
export const section = (title: string, lines: readonly string[]): string[] =>
  lines.length > 0 ? [`## ${title}\n`, ...lines, ""] : [];

/** How far a run is, up to the time that it took. A run in which something is a person's to decide
 * is not done, though nothing more happens by itself. */
export function overText(state: RunState): string {
  if (state.aborted) return "It was aborted; it took";
  if (!state.done) return "It is still under way; so far it took";
  return isWaiting(state) ? "It waits for you; so far it took" : "It is done; it took";
}

/** What waits for a person, and the choices; what is the same for several tasks is said once. */
export function attentionText(all: readonly Attention[]): string[] {
  const tasksByText = grouped(all.map((each) => [whatAndChoices(each), each.task]));
  return [...tasksByText].map(([text, tasks]) => {
    if (tasks[0] === "") return `- the run: ${text}`;
    return `- task${tasks.length > 1 ? "s" : ""} ${tasks.join(", ")}: ${text}`;
  });
}

function whatAndChoices({ reason, note, choices }: Attention): string {
  const lines = choices.map(({ label, command }) => `\n  - ${inline(label)}: ${code(command)}`);
  return `${reason}. ${inline(note)}${lines.join("")}`;
}

/** What came of holding the whole against the words of `success:`. */
export function wholeText({ state, attempts, note }: TaskState): string {
  const { submitted } = attempts.findLast((each) => each.submitted) ?? {};
  const said = submitted ? prose(submitted.handoff, "  ") : inline(note);
  const verdict = submitted?.verdict ? `judged: ${submitted.verdict}` : state;
  return `- ${verdict}. ${said}`;
}

/** Of a handoff in the blueprint's form the first slot, what and why, since the others stand under
 * the findings. */
export function shortly(handoff: string, slots: readonly string[]): string {
  const [first] = slots;
  if (first === undefined || missingSlots(handoff, slots).length > 0) return handoff;
  return slotsOf(handoff, slots).get(first) || handoff;
}

/** Something that a handoff says beside what was done. */
export type Finding = Readonly<{ task: string; slot: string; text: string }>;

/** What handoffs say beside what was done, slot by slot; nothing where all say «none». */
export function findingsIn({ tasks, blueprint: { slots } }: RunState): Finding[] {
  const handoffs = [...tasks.values()].flatMap(({ id, attempts }) =>
    attempts.flatMap(({ submitted }) =>
      submitted ? [{ task: id, said: slotsOf(submitted.handoff, slots) }] : [],
    ),
  );
  return slots.slice(1).flatMap((slot) =>
    handoffs.flatMap(({ task, said }) => {
      const text = said.get(slot) ?? "";
      return text === "" || isNone(text) ? [] : [{ task, slot, text }];
    }),
  );
}

/** Where a run's line can be pushed to. */
export type Remote = Readonly<{ name: string; isGitHub: boolean }>;

/** What became of a run's line.
 * @param mark how a name is marked */
export const mergedText = (
  { merged }: RunState,
  remote: Remote | null,
  mark: (name: string) => string = code,
): string =>
  merged
    ? `It was merged into ${mark(merged.branch)}, as ${mark(merged.to.slice(0, 10))}.${remote ? " Pushing is yours." : ""}`
    : `Nothing was merged${remote ? " or pushed" : ""}: that is yours.`;

/** A command to type, and what it does. */
export type Typed = readonly [command: string, what: string];

/** What to type next, where something landed: only what can be done here. What was merged is looked
 * at where it was merged: the line may be gone.
 * @param remote null where there is none */
export function nextCommands(state: RunState, remote: Remote | null): Typed[] {
  const { line, base, run, merged, landings } = state;
  if (landings.length === 0) return [];
  const isMerged = merged !== null && landings.every(({ at }) => at < merged.at);
  const ref = branchRef(line);
  const to = isMerged ? merged.to.slice(0, 10) : ref;
  const choices: Typed[] = [[`git log --oneline ${base.slice(0, 10)}..${to}`, "look at it"]];
  if (!isMerged)
    choices.push([
      typed(`merge --run ${run}`),
      "merge it into the branch that you are on, proven on what that is then",
    ]);
  if (remote && isMerged)
    choices.push([`git push ${word(remote.name)} ${branchRef(merged.branch)}`, "push it"]);
  else if (remote) choices.push([`git push -u ${word(remote.name)} ${ref}`, "or push it"]);
  if (remote?.isGitHub && !isMerged)
    choices.push([`gh pr create --head ${word(line)}`, "and open the pull request"]);
  choices.push([
    typed(`clean --run ${run}`),
    isMerged ? "remove what the run left" : "afterwards: remove what the run left",
  ]);
  return choices;
}

/** The same as lines of Markdown. */
export const commandsText = (state: RunState, remote: Remote | null): string[] =>
  nextCommands(state, remote).map(([command, what]) => `- ${code(command)}: ${what}`);
