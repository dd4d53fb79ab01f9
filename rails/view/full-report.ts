import { join } from "node:path";
import { alarmLine } from "../foreman/alarms.ts";
import { SUCCESS } from "../journal/end-task.ts";
import { isMade } from "../journal/family.ts";
import { type Flaky, flakyIn } from "../journal/flaky.ts";
import { isPass } from "../journal/passed.ts";
import type { Beside } from "../journal/shapes.ts";
import { type RunState, type TaskState, tasksOf } from "../journal/state.ts";
import { grouped } from "../plan/collections.ts";
import { code, fenced, inline, listed, prose } from "../program/shown.ts";
import { tailOf } from "../proof/output.ts";
import { costText } from "./cost-text.ts";
import { choicesText, isOfWords, madeText, resultsText, roundsText } from "./flows-text.ts";
import { commonText, landedText } from "./landed-text.ts";
import { stateGraph, workersGantt } from "./mermaid.ts";
import {
  apart,
  askingNow,
  attentionText,
  commandsText,
  findingsIn,
  intentText,
  mergedText,
  overText,
  type Seen,
  section,
  shortly,
  titleText,
  wholeText,
} from "./said.ts";
import { cell, clock } from "./text.ts";

/** A value in a config may be long. */
const VALUE_LIMIT = 80;

/** All that there is to say of a run: what landed, what did not and why, the raw evidence, what it
 * cost, what to type next.
 * @param drawnIn the file with the pictures, which are then not in the text: a terminal draws none
 */
export async function fullReport(
  state: RunState,
  seen: Seen,
  drawnIn: string | null = null,
): Promise<string> {
  const { folder, cost, sizes } = seen;
  const whole = state.tasks.get(SUCCESS);
  const { landed, rest } = apart(state);
  const textOf = (task: TaskState): string =>
    task.state === "landed" ? landedText(state, task) : restText(task);
  const lineOf = (task: TaskState): string =>
    isMade(task) ? madeText(state, task, textOf) : textOf(task);
  const { alarms, attention } = askingNow(state, seen);
  const proofs = state.landings.map((landing) => proofText(state, landing, folder));
  return [
    titleText(state),
    ...intentText(state),
    standingText(state),
    ...section("Landed", [...landed.map(lineOf), ...commonText(state)]),
    ...section("Not landed", rest.map(lineOf)),
    ...section(
      "Results",
      resultsText(state, (handoff) => shortly(handoff, state.blueprint.slots)),
    ),
    ...section("Choices", choicesText(state, cost, sizes)),
    ...section("Rounds", roundsText(state)),
    ...section("The whole", whole ? [wholeText(whole)] : []),
    ...section("Yours to decide", attentionText(attention)),
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
    ...section("What next", nextText(state, seen)),
  ].join("\n");
}

function nextText(state: RunState, { remote }: Seen): string[] {
  const commands = commandsText(state, remote);
  return commands.length > 0 ? [`${mergedText(state, remote)}\n`, ...commands] : [];
}

/** What handoffs say beside what was done, slot by slot, each task's under its id. */
function findingsText(state: RunState): string[] {
  const bySlot = grouped(findingsIn(state).map((each) => [each.slot, each] as const));
  return [...bySlot].flatMap(([slot, all]) => {
    const lines = all.map(({ task, text }) => `- ${task}: ${prose(text, "  ")}`);
    return [`**${inline(slot)}**\n`, ...lines, ""];
  });
}

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
