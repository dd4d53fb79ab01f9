import { join } from "node:path";
import { alarmLine, alarmsOf } from "../foreman/alarms.ts";
import { type Attention, attentionOf } from "../foreman/attention.ts";
import { greenBefore } from "../journal/checks.ts";
import { SUCCESS } from "../journal/end-task.ts";
import { isMade } from "../journal/family.ts";
import { type Flaky, flakyIn } from "../journal/flaky.ts";
import { isNone, missingSlots, slotsOf } from "../journal/handoff.ts";
import { isPass } from "../journal/passed.ts";
import type { Beside } from "../journal/shapes.ts";
import {
  type AttemptState,
  isOpen,
  isWaiting,
  type RunState,
  type TaskState,
  tasksOf,
} from "../journal/state.ts";
import type { Cost } from "../money/cost.ts";
import { grouped } from "../plan/collections.ts";
import { anywhere, matches, matchesAny } from "../plan/conflicts.ts";
import { code, fenced, inline, listed, prose } from "../program/shown.ts";
import { branchRef, typed, word } from "../program/typed.ts";
import { tailOf } from "../proof/output.ts";
import { costText } from "./cost-text.ts";
import {
  choicesText,
  isOfWords,
  madeText,
  resultsText,
  roundsText,
  type Size,
  wordsOf,
} from "./flows-text.ts";
import { stateGraph, workersGantt } from "./mermaid.ts";
import { cell, clock } from "./text.ts";
import { countsOf, ownWork, rootsOf } from "./tree.ts";

/** A value in a config may be long. */
const VALUE_LIMIT = 80;

/** The page that a person gets at the end: what landed, what did not and why, the raw evidence,
 * what it cost, what to type next.
 * @param folder the run's, where raw output lies
 * @param cost null where prices cannot be read
 * @param now milliseconds since 1970
 * @param faults of the run as a whole, for a person to put right
 * @param drawnIn the file with the pictures, which are then not in the text: a terminal draws none
 * @param sizes how much variants changed, by attempt */
export async function reportText(
  state: RunState,
  folder: string,
  cost: Cost | null,
  now: number,
  faults: readonly Attention[] = [],
  drawnIn: string | null = null,
  sizes: ReadonlyMap<string, Size> = new Map(),
): Promise<string> {
  const whole = state.tasks.get(SUCCESS);
  const all = rootsOf(state).filter((task) => task !== whole);
  const landed = all.filter((task) => task.state === "landed");
  const rest = all.filter((task) => task.state !== "landed");
  const own = countsOf(ownWork(state).filter((task) => task !== whole));
  const textOf = (task: TaskState): string =>
    task.state === "landed" ? landedText(state, task) : restText(task);
  const lineOf = (task: TaskState): string =>
    isMade(task) ? madeText(state, task, textOf) : textOf(task);
  const dollars = cost?.dollars ?? null;
  const alarms = isOpen(state) ? alarmsOf(state, { dollars, now }) : [];
  const proofs = state.landings.map((landing) => proofText(state, landing, folder));
  return [
    `# Run ${state.run}: ${own.landed ?? 0} of ${own.total} landed\n`,
    ...intentText(state),
    standingText(state),
    ...section("Landed", landed.map(lineOf)),
    ...section("Not landed", rest.map(lineOf)),
    ...section(
      "Results",
      resultsText(state, (handoff) => shortly(handoff, state.blueprint.slots)),
    ),
    ...section("Choices", choicesText(state, cost, sizes)),
    ...section("Rounds", roundsText(state)),
    ...section("The whole", whole ? [wholeText(whole)] : []),
    ...section(
      "Yours to decide",
      attentionText([...faults, ...attentionOf(state, alarms, { dollars, now })]),
    ),
    ...section(
      "Alarms",
      alarms.map((alarm) => `- ${inline(alarmLine(alarm))}`),
    ),
    ...section(
      "Flaky",
      flakyIn(state).map((flaky) => flakyText(flaky, folder)),
    ),
    ...section("Findings", findingsText(state)),
    ...section("The plan since", changesText(state)),
    ...section("Beside the files", besideText(state)),
    ...section("Raw output", await Promise.all(proofs)),
    ...section("Handoffs", handoffsText(state)),
    ...section("How it went", drawnIn ? [`Drawn in ${code(drawnIn)}.`] : picturesText(state)),
    ...section("Cost", cost ? costText(state, cost) : []),
    ...section("Journal", journalText(state)),
    ...section("What next", state.landings.length > 0 ? commands(state) : []),
  ].join("\n");
}

/** A section with its title; nothing where there is nothing to say. */
const section = (title: string, lines: readonly string[]): string[] =>
  lines.length > 0 ? [`## ${title}\n`, ...lines, ""] : [];

/** A gate that was red and then passed with nothing changed, and what had failed. */
function flakyText({ gate, tasks, errors, red, green }: Flaky, folder: string): string {
  const whose = tasks.length > 0 ? ` (${tasks.join(", ")})` : "";
  const failed = errors.length > 0 ? `: ${listed(errors)}` : "";
  const [was, became] = [red, green].map((output) => code(join(folder, output)));
  return `- **${inline(gate)}**${whose} was red, then green on the very same files${failed}. Red: ${was}, green: ${became}`;
}

/** What commands, or somebody meanwhile, changed in the config, hooks and refs that all worktrees
 * share, and during which gates. */
function besideText({ evidence }: RunState): string[] {
  const gates = new Map<string, Set<string>>();
  for (const { gate, beside = [] } of evidence)
    for (const each of beside) {
      const text = inline(besideLine(each));
      gates.set(text, (gates.get(text) ?? new Set()).add(gate));
    }
  return [...gates].map(
    ([text, names]) => `- ${text} (while ${[...names].map(inline).join(", ")} ran)`,
  );
}

function besideLine({ name, became, isBack }: Beside): string {
  const isConfig = !/^(hooks|refs)\//.test(name);
  const now = isConfig ? `is ${became?.slice(0, VALUE_LIMIT)}` : "is another";
  const fate = isBack ? "taken back" : "left, since somebody else may have done it";
  return `${name} ${became === null ? "is gone" : now}: ${fate}`;
}

/** What the run is for. */
function intentText({ goal, success }: RunState): string[] {
  const said: string[] = [];
  if (goal) said.push(inline(goal));
  if (success) said.push(`A success if: ${inline(success)}`);
  return said.length > 0 ? [`${said.join(" ")}\n`] : [];
}

/** How far the run is, where its line stands, and what was seen to pass on that. */
function standingText(state: RunState): string {
  const { line, tip, base, gates, landings, end, baseRed, fresh } = state;
  const namesOf = (isForEnd: boolean): string =>
    gates
      .filter(({ isLast = false }) => isLast === isForEnd)
      .map(({ name }) => inline(name))
      .join(", ");
  const sentences = [
    `${overText(state)} ${clock(state.lastAt - state.startedAt)}.`,
    `Line \`${line}\` stands on \`${tip.slice(0, 10)}\`, base is \`${base.slice(0, 10)}\`.`,
  ];
  if (landings.length > 0)
    sentences.push(`On its tip landing itself ran, and saw pass: ${namesOf(false)}.`);
  if (end?.red) sentences.push(`**Red at the end: ${inline(end.red)}**`);
  else if (end && namesOf(true)) sentences.push(`Also at the end: ${namesOf(true)}.`);
  if (end && !end.red && fresh)
    sentences.push("At the end it held with nothing beside the files of a fresh clone.");
  if (state.baseAccepted) {
    const red = inline(baseRed?.join(", ") ?? "");
    sentences.push(`Red on the base, so that there only new failures counted: ${red}.`);
  }
  return `${sentences.join(" ")}\n`;
}

/** How far a run is, up to the time that it took. A run in which something is a person's to decide
 * is not done, though nothing more happens by itself. */
function overText(state: RunState): string {
  if (state.aborted) return "It was aborted; it took";
  if (!state.done) return "It is still under way; so far it took";
  return isWaiting(state) ? "It waits for you; so far it took" : "It is done; it took";
}

const picturesText = (state: RunState): string[] =>
  [stateGraph(state), workersGantt(state, state.lastAt)]
    .filter((picture) => picture !== "")
    .flatMap((picture) => ["```mermaid", picture, "```"]);

const journalText = ({ bad }: RunState): string[] =>
  bad.map((number) => `- line ${number} could not be read and was passed over`);

/** Is a task one of a list that a command made, and on the line? Those are counted. */
const isCounted = ({ added, state }: TaskState): boolean => added === "each" && state === "landed";

/** What the workers of each task handed in, with the files that it touched: not that of what is
 * counted, or stands among the results. */
function handoffsText({ tasks, blueprint }: RunState): string[] {
  const texts: string[] = [];
  for (const task of tasks.values()) {
    const { id, title, phases, attempts, result } = task;
    if (isCounted(task) || (isOfWords(task) && task.state === "landed")) continue;
    const handoffs: string[] = [];
    for (const { submitted, phase } of attempts) {
      if (!submitted) continue;
      const said = shortly(submitted.handoff, blueprint.slots);
      const quote = `> ${prose(said, "> ")}`;
      handoffs.push(phases.length > 1 ? `*${inline(phase.name)}*\n\n${quote}` : quote);
    }
    if (handoffs.length === 0) continue;
    const files = filesText(result?.submitted?.paths ?? []);
    texts.push(`### ${id} ${inline(title)}\n\n${files}${handoffs.join("\n\n")}\n`);
  }
  return texts;
}

function filesText(paths: readonly string[]): string {
  if (paths.length === 0) return "";
  const more = paths.length > PATHS ? `, and ${paths.length - PATHS} more` : "";
  return `Files: ${listed(paths.slice(0, PATHS))}${more}\n\n`;
}

/** Of a handoff in the blueprint's form the first slot, what and why, since the others stand under
 * the findings. */
function shortly(handoff: string, slots: readonly string[]): string {
  const [first] = slots;
  if (first === undefined || missingSlots(handoff, slots).length > 0) return handoff;
  return slotsOf(handoff, slots).get(first) || handoff;
}

/** What handoffs say beside what was done, slot by slot, each task's under its id; nothing where
 * all say «none». */
function findingsText({ tasks, blueprint: { slots } }: RunState): string[] {
  const handoffs: Readonly<{ task: string; said: ReadonlyMap<string, string> }>[] = [];
  for (const { id, attempts } of tasks.values())
    for (const { submitted } of attempts)
      if (submitted) handoffs.push({ task: id, said: slotsOf(submitted.handoff, slots) });
  const texts: string[] = [];
  for (const slot of slots.slice(1)) {
    const lines: string[] = [];
    for (const { task, said } of handoffs) {
      const text = said.get(slot) ?? "";
      if (text !== "" && !isNone(text)) lines.push(`- ${task}: ${prose(text, "  ")}`);
    }
    if (lines.length > 0) texts.push(`**${inline(slot)}**\n`, ...lines, "");
  }
  return texts;
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

/** Of the files that a task touched, of raw output, and of each line of that, so much stands in the
 * report. */
const PATHS = 20;
const LINES = 8; // What Node's test runner sums up with
const COLUMNS = 160;

/** What landing ran on what it put on the line at once: each command, how it ends, and where the
 * whole is. */
async function proofText(
  state: RunState,
  { to, tree, attempts, dropped = [] }: RunState["landings"][number],
  folder: string,
) {
  const proof = state.evidence.filter(
    (each) => each.by === "landing" && each.tree === tree && isPass(each),
  );
  const newest = [...new Map(proof.map((each) => [each.gate, each])).values()];
  const texts = newest.map(async ({ gate, command, code: exit, output }) => {
    const path = join(folder, output);
    const lines = (await tailOf(path, LINES)).map((line) => cell(line, COLUMNS).trimEnd());
    const block = fenced([`$ ${command}`, ...lines].join("\n"));
    return `${inline(gate)} ended with ${exit}, ${code(path)}:\n\n${block}\n`;
  });
  const back = dropped.length > 0 ? [`without ${dropped.join(", ")}`] : [];
  const ids = [...tasksOf(state, attempts), ...back].join(", ");
  return [`### ${ids} on \`${to.slice(0, 10)}\`\n`, ...(await Promise.all(texts))].join("\n");
}

/** How the plan was changed while the run went on, and what a person said of its tasks. */
function changesText({ changes, tasks, startedAt }: RunState): string[] {
  const lines = changes.map(({ event, before }) => {
    const old = new Set(before.map(({ id }) => id));
    const ids = event.tasks.map(({ id }) => id);
    const said = [
      ["added", ids.filter((id) => !old.has(id))],
      ["reworded", ids.filter((id) => old.has(id))],
    ] as const;
    const what = said.filter(([, all]) => all.length > 0);
    const words = what.map(([name, all]) => `${name} ${all.join(", ")}`).join("; ");
    const who = event.loosened.length > 0 || event.session === "" ? "a person" : "the session";
    const by = event.loosened.length > 0 ? ` (${event.loosened.map(inline).join("; ")})` : "";
    return `- ${clock(event.at - startedAt)}: ${who} ${words}${by}`;
  });
  for (const { id, words } of tasks.values())
    for (const text of words) lines.push(`- task ${id}, a person said: ${prose(text, "  ")}`);
  return lines;
}

/** A task that landed: as which commit, by which attempt, and what is worth a look at that. */
function landedText(state: RunState, task: TaskState): string {
  const { id, title, attempts, result: last } = task;
  const landing = state.landings.find((each) => last && each.attempts.includes(last.id));
  if (isOfWords(task) && wordsOf(task) !== undefined)
    return `- **${id} ${inline(title)}**: its result stands below`;
  if (!last || !landing) return `- **${id} ${inline(title)}**: was done before the run.`;
  const tries = attempts.filter(({ phase }) => phase === last.phase).length;
  const which = tries === 1 ? "" : `, attempt ${tries}`;
  const [own, ...later] = landing.landed.slice(landing.attempts.indexOf(last.id));
  // What landed at once lies one on the other; it is known by its own last commit.
  const above = later.reduce((sum, { commits, skipped = 0 }) => sum + commits.length - skipped, 0);
  const commit = landing.to.slice(0, 10) + (above > 0 ? `~${above}` : "");
  const remarks = touchedRemarks(state, task, last);
  const skipped = own?.skipped ?? 0;
  if (skipped > 0)
    remarks.push(`${skipped} of its ${own?.commits.length} commits changed nothing there`);
  if (last.submitted?.byHand) remarks.push("Landed by a person's word");
  return [`- **${id} ${inline(title)}**: \`${commit}\`${which}`, ...remarks].join(". ");
}

/** Where what a task touched is not what it names. What may come along with a named file counts as
 * named. */
function touchedRemarks(state: RunState, task: TaskState, { submitted }: AttemptState) {
  const { files } = task;
  const paths = submitted?.paths ?? [];
  const isNamed = (path: string): boolean =>
    files.some((each) => matches(each.path, path, state.prefix));
  const named = paths.filter(isNamed);
  const along: string[] = [];
  for (const [pattern, companions] of Object.entries(state.blueprint.companions))
    if (named.some((path) => matches(anywhere(pattern), path)))
      along.push(...companions.map(anywhere));
  const deleted = (submitted?.deleted ?? []).filter((path) => !isNamed(path));
  const others = paths.filter(
    (path) => !isNamed(path) && !deleted.includes(path) && !matchesAny(along, path),
  );
  const remarks: string[] = [];
  const idle = greenBefore(state, task);
  if (idle.length > 0)
    remarks.push(
      `**${idle.map(code).join(", ")} passed before anything was done: it shows nothing**`,
    );
  if (files.length > 0 && named.length === 0)
    remarks.push("**None of the files that it names was touched**");
  if (files.length > 0 && others.length > 0)
    remarks.push(`Touched though not named: ${listed(others)}`);
  if (deleted.length > 0) remarks.push(`**Deleted though not named: ${listed(deleted)}**`);
  return remarks;
}

/** What came of holding the whole against the words of `success:`. */
function wholeText({ state, attempts, note }: TaskState): string {
  const { submitted } = attempts.findLast((each) => each.submitted) ?? {};
  const said = submitted ? prose(submitted.handoff, "  ") : inline(note);
  const verdict = submitted?.verdict ? `judged: ${submitted.verdict}` : state;
  return `- ${verdict}. ${said}`;
}

/** A task that did not land: where it stands, why, and what there is of it. */
function restText({ id, title, state, reason, note, attempts }: TaskState): string {
  const why: string[] = [];
  if (reason) why.push(reason === "dependency" ? "what it depends on did not land" : reason);
  if (note) why.push(inline(note));
  const because = why.length > 0 ? `, ${why.join(": ").replace(/\.$/, "")}` : "";
  const tries = attempts.length > 1 ? ` (${attempts.length} attempts)` : "";
  const branch = attempts.findLast(({ begun }) => begun)?.begun?.branch;
  const left = branch ? `. What there is: ${code(branch)}` : "";
  return `- **${id} ${inline(title)}**: ${state}${tries}${because}${left}`;
}

/** What to type next, where something landed. What was merged is looked at where it was merged: the
 * line may be gone. */
function commands(state: RunState): string[] {
  const { line, base, run, merged, landings } = state;
  const isMerged = merged !== null && landings.every(({ at }) => at < merged.at);
  const ref = branchRef(line);
  const log = (to: string): string => `git log --oneline ${base.slice(0, 10)}..${to}`;
  const clean = typed(`clean --run ${run}`);
  const choices: [string, string][] = isMerged
    ? [
        [log(merged.to.slice(0, 10)), "look at it"],
        [`git push origin ${branchRef(merged.branch)}`, "push it"],
        [clean, "remove what the run left"],
      ]
    : [
        [log(ref), "look at it"],
        [
          typed(`merge --run ${run}`),
          "merge it into the branch that you are on, proven on what that is then",
        ],
        [`git push -u origin ${ref}`, "or push it"],
        [`gh pr create --head ${word(line)}`, "and open the pull request"],
        [clean, "afterwards: remove what the run left"],
      ];
  return [
    merged
      ? `It was merged into ${code(merged.branch)}, as ${code(merged.to.slice(0, 10))}. Pushing is yours.\n`
      : "Nothing was merged or pushed: that is yours.\n",
    ...choices.map(([command, what]) => `- ${code(command)}: ${what}`),
  ];
}
