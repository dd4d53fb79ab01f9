import { join } from "node:path";
import { alarmLine, alarmsOf } from "../foreman/alarms.ts";
import { type Attention, attentionOf } from "../foreman/attention.ts";
import { isPass } from "../journal/evidence.ts";
import { isNone, missingSlots, slotsOf } from "../journal/handoff.ts";
import { endedAt, isOpen, type RunState, type TaskState, tasksOf } from "../journal/state.ts";
import type { Cost } from "../money/cost.ts";
import { grouped } from "../plan/collections.ts";
import { anywhere, matches, matchesAny } from "../plan/conflicts.ts";
import { typed } from "../program/typed.ts";
import { tailOf } from "../proof/output.ts";
import { moneyText } from "./board.ts";
import { stateGraph, workersGantt } from "./mermaid.ts";
import { cell, clock, fenced } from "./text.ts";

/** The page that a person gets at the end: what landed, what did not and why, the raw evidence,
 * what it cost, what to type next.
 * @param folder the run's, where raw output lies
 * @param cost null where prices cannot be read
 * @param now milliseconds since 1970 */
export async function reportText(
  state: RunState,
  folder: string,
  cost: Cost | null,
  now: number,
): Promise<string> {
  const {
    run,
    line,
    base,
    tip,
    gates,
    landings,
    aborted,
    done,
    bad,
    lastAt,
    baseRed,
    baseAccepted,
  } = state;
  const all = [...state.tasks.values()];
  const landed = all.filter((task) => task.state === "landed");
  const intent = [state.goal, state.success && `A success if: ${state.success}`]
    .filter(Boolean)
    .join(" ");
  const over = aborted ? "It was aborted" : done ? "It is done" : "It is still under way";
  const { end } = state;
  const names = (when: boolean): string =>
    gates.flatMap(({ isLast = false, name }) => (isLast === when ? name : [])).join(", ");
  const atEnd =
    end && (end.red ? ` **Red at the end: ${end.red}**` : ` Also at the end: ${names(true)}.`);
  const any = landings.length > 0;
  const dollars = cost?.dollars ?? null;
  const alarms = isOpen(state) ? alarmsOf(state, { dollars, now }) : [];
  const pictures = [stateGraph(state), workersGantt(state, lastAt)];
  const sections: Record<string, readonly string[]> = {
    Landed: landed.map((task) => landedText(state, task)),
    "Not landed": all.filter((task) => task.state !== "landed").map(restText),
    "Yours to decide": attentionText(attentionOf(state, alarms, dollars)),
    Alarms: alarms.map((alarm) => `- ${alarmLine(alarm)}`),
    Findings: findingsText(state),
    "Raw output": await Promise.all(landings.map((landing) => proofText(state, landing, folder))),
    Handoffs: all.flatMap(({ id, title, phases, attempts, result }) => {
      const left = attempts.flatMap(({ submitted, phase }) =>
        submitted ? [[phase.name, shortly(submitted.handoff, state.blueprint.slots)]] : [],
      );
      const texts = left.map(([name, handoff]) =>
        phases.length > 1 ? `*${name}*\n\n${handoff}` : handoff,
      );
      const paths = result?.submitted?.paths ?? [];
      const more = paths.length > PATHS ? `, and ${paths.length - PATHS} more` : "";
      const files = paths.length > 0 ? `Files: ${paths.slice(0, PATHS).join(", ")}${more}\n\n` : "";
      return texts.length > 0 ? [`### ${id} ${title}\n\n${files}${texts.join("\n\n")}\n`] : [];
    }),
    "How it went": pictures.flatMap((picture) => (picture ? ["```mermaid", picture, "```"] : [])),
    Cost: cost ? costText(state, cost) : [],
    Journal: bad.map((number) => `- line ${number} could not be read and was passed over`),
    "What next": any ? commands(state) : [],
  };
  return [
    `# Run ${run}: ${landed.length} of ${all.length} landed\n`,
    ...(intent ? [`${intent}\n`] : []),
    `${over}; it took ${clock(state.lastAt - state.startedAt)}. ` +
      `Line \`${line}\` stands on \`${tip.slice(0, 10)}\`, base is \`${base.slice(0, 10)}\`.` +
      (any ? ` On its tip landing itself ran, and saw pass: ${names(false)}.` : "") +
      (atEnd ?? "") +
      (baseAccepted
        ? ` Red on the base, so that there only new failures counted: ${baseRed?.join(", ")}.\n`
        : "\n"),
    ...Object.entries(sections).flatMap(([title, lines]) =>
      lines.length > 0 ? [`## ${title}\n`, ...lines, ""] : [],
    ),
  ].join("\n");
}

/** Of a handoff in the blueprint's form the first slot, what and why, since the others stand under
 * the findings. */
function shortly(handoff: string, slots: readonly string[]): string {
  const said = slotsOf(handoff, slots);
  return (
    (slots.length > 0 && missingSlots(handoff, slots).length === 0 && said.get(slots[0] ?? "")) ||
    handoff
  );
}

/** What handoffs say beside what was done, slot by slot, each task's under its id; nothing where
 * all say «none». */
function findingsText({ tasks, blueprint: { slots } }: RunState): string[] {
  const all = [...tasks.values()].flatMap(({ id, attempts }) =>
    attempts.flatMap(({ submitted }) =>
      submitted ? [[id, slotsOf(submitted.handoff, slots)] as const] : [],
    ),
  );
  return slots.slice(1).flatMap((slot) => {
    const lines = all.flatMap(([id, said]) => {
      const text = said.get(slot) ?? "";
      return text === "" || isNone(text) ? [] : [`- ${id}: ${text.replaceAll("\n", "\n  ")}`];
    });
    return lines.length > 0 ? [`**${slot}**\n`, ...lines, ""] : [];
  });
}

/** What waits for a person, and the choices; what is the same for several tasks is said once. */
export function attentionText(all: readonly Attention[]): string[] {
  const same = grouped(
    all.map(({ task, reason, note, choices }) => {
      const lines = choices.map(({ label, command }) => `\n  - ${label}: \`${command}\``).join("");
      return [`: ${reason}. ${note}${lines}`, task];
    }),
  );
  return [...same].map(([text, [first, ...more]]) => {
    const whose =
      first === "" ? "the run" : `task${more.length > 0 ? "s" : ""} ${[first, ...more].join(", ")}`;
    return `- ${whose}${text}`;
  });
}

/** Of the files that a task touched, of raw output, and of each line of that, so much stands in the
 * report. */
const PATHS = 20;
const LINES = 5;
const COLUMNS = 160;

/** What landing ran on what it put on the line at once: each command, how it ends, and where the
 * whole is. */
async function proofText(
  state: RunState,
  { to, tree, attempts }: RunState["landings"][number],
  folder: string,
) {
  const proof = state.evidence.filter(
    (each) => each.by === "landing" && each.tree === tree && isPass(each),
  );
  const newest = [...new Map(proof.map((each) => [each.gate, each])).values()];
  const texts = newest.map(async ({ gate, command, code, output }) => {
    const path = join(folder, output);
    const lines = (await tailOf(path, LINES)).map((line) => cell(line, COLUMNS).trimEnd());
    return `${gate} ended with ${code}, \`${path}\`:\n\n${fenced([`$ ${command}`, ...lines].join("\n"))}\n`;
  });
  const ids = tasksOf(state, attempts).join(", ");
  return [`### ${ids} on \`${to.slice(0, 10)}\`\n`, ...(await Promise.all(texts))].join("\n");
}

function landedText(
  state: RunState,
  { id, title, files, attempts, result: last }: TaskState,
): string {
  const landing = state.landings.find((each) => last && each.attempts.includes(last.id));
  if (!last || !landing) return `- **${id} ${title}**: was done before the run.`;
  const tries = attempts.filter(({ phase }) => phase === last.phase).length;
  const which = tries === 1 ? "" : `, attempt ${tries}`;
  const paths = last.submitted?.paths ?? [];
  const isNamed = (path: string): boolean =>
    files.some((each) => matches(each.path, path, state.prefix));
  const along = Object.entries(state.blueprint.companions).flatMap(([pattern, companions]) =>
    paths.some((path) => isNamed(path) && matches(anywhere(pattern), path))
      ? companions.map(anywhere)
      : [],
  );
  const deleted = (last.submitted?.deleted ?? []).filter((path) => !isNamed(path));
  const isOther = (path: string): boolean => !isNamed(path) && !deleted.includes(path);
  const others = paths.filter((path) => isOther(path) && !matchesAny(along, path));
  const [own, ...later] = landing.landed.slice(landing.attempts.indexOf(last.id));
  const none = own?.skipped ?? 0;
  // What landed at once lies one on the other; it is known by its own last commit.
  const above = later.reduce((sum, { commits, skipped = 0 }) => sum + commits.length - skipped, 0);
  const remarks = [
    files.length > 0 && !paths.some(isNamed) && "**None of the files that it names was touched**",
    files.length > 0 && others.length > 0 && `Touched though not named: ${others.join(", ")}`,
    deleted.length > 0 && `**Deleted though not named: ${deleted.join(", ")}**`,
    none > 0 && `${none} of its ${own?.commits.length} commits changed nothing there`,
    last.submitted?.byHand && "Landed by a person's word",
  ].filter(Boolean);
  const commit = landing.to.slice(0, 10) + (above > 0 ? `~${above}` : "");
  return [`- **${id} ${title}**: \`${commit}\`${which}`, ...remarks].join(". ");
}

function restText({ id, title, state, reason, note, attempts }: TaskState): string {
  const branch = attempts.findLast(({ begun }) => begun)?.begun?.branch;
  const why = [reason === "dependency" ? "what it depends on did not land" : reason, note]
    .filter(Boolean)
    .join(": ");
  const tries = attempts.length > 1 ? ` (${attempts.length} attempts)` : "";
  const left = branch ? `. What there is: \`${branch}\`` : "";
  return `- **${id} ${title}**: ${state}${tries}${why && `, ${why.replace(/\.$/, "")}`}${left}`;
}

/** What a run cost, for people, as Markdown: money and time against what was expected, and who used
 * what. Empty where no transcript tells. */
function costText(state: RunState, cost: Cost): string[] {
  if (cost.rows.length === 0) return [];
  const number = (value: number): string => value.toLocaleString("en");
  const cells = cost.rows.map(
    ({ task, phase, model, dollars, requests, input, write, writeHour, read, output }) => [
      task ?? "(foreman)",
      phase || "-",
      `\`${model}\``,
      ...[requests, input, write + writeHour, read, output].map(number),
      dollars === null ? "?" : dollars.toFixed(2),
    ],
  );
  const head = [
    "task",
    "phase",
    "model",
    "requests",
    "input",
    "cache write",
    "cache read",
    "output",
    "$",
  ];
  const rows = [head, head.map((_, at) => (at < 3 ? "---" : "---:")), ...cells].map(
    (row) => `| ${row.join(" | ")} |`,
  );
  const lacking = [
    cost.unpriced.length > 0 &&
      `No price in prices.md, and so not in the sum: ${cost.unpriced.join(", ")}.`,
    cost.unknown.length > 0 && `Left no transcript: ${cost.unknown.join(", ")}.`,
  ].flatMap((text) => text || []);
  return [
    [`${moneyText(state, cost)} at list prices.`, ...lacking, timeText(state)].join(" "),
    "",
    ...rows,
  ];
}

/** How long it took, against what was expected and against one worker after another. */
function timeText({ attempts, startedAt, lastAt, estimate }: RunState): string {
  const one = [...attempts.values()].reduce(
    (sum, each) => sum + (endedAt(each) ?? lastAt) - each.dispatchedAt,
    0,
  );
  const { likely, low, high } = estimate?.minutes ?? {};
  const least = low?.toFixed(0);
  const most = high?.toFixed(0);
  const expected = likely
    ? ` (expected about ${likely.toFixed(0)} min, ${least}–${most}, without landing)`
    : "";
  return `It took ${clock(lastAt - startedAt)}${expected}; its workers one after another ${clock(one)}.`;
}

const commands = ({ line, base, run }: RunState): string[] => [
  "Nothing was merged or pushed: that is yours.\n",
  `- \`git log --oneline ${base.slice(0, 10)}..${line}\`: look at it`,
  `- \`${typed(`merge --run ${run}`)}\`: merge it into the branch that you are on, proven on what that is then`,
  `- \`git push -u origin ${line}\`: or push it`,
  `- \`gh pr create --head ${line}\`: and open the pull request`,
  `- \`${typed(`clean --run ${run}`)}\`: afterwards: remove what the run left`,
];
