import { join } from "node:path";
import type { Overlay } from "../blueprint/overlay.ts";
import { isListed, SUCCESS } from "../journal/end-task.ts";
import { gatesOf } from "../journal/evidence.ts";
import { findingsIn, findingsOf } from "../journal/findings.ts";
import { isIts } from "../journal/phases.ts";
import { hasRounds, redRounds, roundsOf } from "../journal/rounds.ts";
import type { AttemptState, TaskState } from "../journal/state.ts";
import { variantsOf } from "../journal/variants.ts";
import { matchesAny, patternOf } from "../plan/conflicts.ts";
import { parentOf } from "../plan/task.ts";
import { code, inline, listed, named, prose, shown } from "../program/shown.ts";
import { areaOf } from "./area-brief.ts";
import type { Own } from "./attempt.ts";
import { roundsBefore, toChoose } from "./choice-brief.ts";
import { HANDOFF_CHARACTERS, PHASE_CHARACTERS, quoted, rawOf } from "./quoted.ts";

type FindOverlay = (name: string) => Overlay | undefined;

/** What a worker is told at the start: its task, what it may touch, its expertise, what came
 * before, and the rails. */
export function brief(own: Own, overlay: FindOverlay): string {
  const { attempt, state, journal } = own;
  const { task } = attempt;
  const parts = [
    heading(own),
    shown(task.description),
    fieldsOf(own),
    saidOf(attempt),
    ...expertiseOf(attempt, overlay),
    ...task.depends.map((id) => handoffOf(state, id)),
    foundOn(own),
    areaOf(own),
    whatToJudge(own),
    ...before(attempt).map(leftBy),
    roundsBefore(own),
    ...othersIn(own).map((id) => handoffOf(state, id)),
    earlier(attempt, join(journal.folder, "output")),
    rails(own),
  ];
  const trimmed = parts.map((part) => part.trim());
  return trimmed.filter((part) => part !== "").join("\n\n");
}

/** Which attempt it is, and where its worker stands. */
function heading({ attempt, state }: Own): string {
  const { id, task, phase, begun, variant } = attempt;
  const hasResult = task.result && !task.result.over;
  const stands = hasResult ? "on what earlier phases made of it" : "at the tip of the line";
  const part = task.phases.length > 1 ? ` This is its phase ${phase.name}.` : "";
  const which = variant > 0 ? ` Your number is ${variant} of ${variantsOf(phase)}.` : "";
  const nth = redRounds(task, phase).length + 1;
  const round = hasRounds(phase) ? ` This is round ${nth} of ${roundsOf(phase)}.` : "";
  const where =
    state.prefix && ` The list was written in ${named(state.prefix)}/: its paths count from there.`;
  const branch = named(begun?.branch ?? "");
  return `# ${id}: ${inline(task.title)}\n\nYou are on ${branch}, ${stands}.${part}${which}${round}${where}`;
}

/** The task's fields, one a line; none that is empty. */
function fieldsOf({ attempt: { task }, state }: Own): string {
  const files = task.files.map(({ path, guessed }) => named(path) + (guessed ? " (a guess)" : ""));
  const success = state.success && `a success if: ${state.success}`;
  const fields = {
    Files: files.join(", "),
    "Do not touch": listed(task.forbid),
    "May change, though gates stand on it": listed(task.gates),
    "Done when": prose(task.doneWhen.split("\n").join("; "), "  "),
    Verify: task.verify === "" ? "" : task.verify.split("\n").map(code).join(", "),
    Risk: task.risk,
    "Part of": inline([state.goal, success].filter((text) => text !== "").join("; ")),
  };
  return Object.entries(fields)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `- ${name}: ${value}`)
    .join("\n");
}

/** What a person said of the task since the run began, and what they were asked before. */
function saidOf({ task: { words, asked } }: AttemptState): string {
  if (words.length === 0) return "";
  const question = asked === "" ? "" : `They were asked: ${prose(asked, "")}\n\n`;
  const quotes = words.map((text) => `> ${prose(text, "> ")}`);
  return `## What the person says\n\n${question}${quotes.join("\n\n")}`;
}

/** What workers found that is this one's business: those of tasks that it builds on, by however
 * many steps, and those who touched what it is to touch. What its direct dependencies left it has
 * whole, and so has a planner what its own tasks left. */
function foundOn({ attempt: { task, phase }, state }: Own): string {
  const builtOn = new Set(task.depends);
  for (const id of builtOn) for (const one of state.tasks.get(id)?.depends ?? []) builtOn.add(one);
  const files = task.files.map(patternOf);
  const isMet = ({ id, result }: TaskState): boolean =>
    builtOn.has(id) ||
    (result?.submitted?.paths ?? []).some((path) => matchesAny(files, path, state.prefix));
  const isHad = ({ id }: TaskState): boolean =>
    task.depends.includes(id) || (phase.tasks !== undefined && parentOf(id) === task.id);
  const others = [...state.tasks.values()].filter(
    (each) => each !== task && !isHad(each) && isMet(each),
  );
  const found = others.flatMap(({ attempts }) =>
    attempts.flatMap((each) => findingsIn(state, each)),
  );
  if (found.length === 0) return "";
  const texts = found.map(
    (each) =>
      `Task ${each.task}, ${inline(each.slot)}:\n\n${quoted(each.text, HANDOFF_CHARACTERS)}`,
  );
  return `## What others found here\n\n${texts.join("\n\n")}`;
}

/** What the overlays say that the task or its phase names, and the one that was dispatched. */
function expertiseOf({ task, phase, agent }: AttemptState, overlay: FindOverlay): string[] {
  // A role says how to work: a phase that brings its own leaves no room for the task's.
  const experts = phase.agent
    ? [...task.agent.filter((name) => !overlay(name)?.isRole), phase.agent]
    : task.agent;
  return [...experts, agent].map((name) => overlay(name)?.body ?? "");
}

/** The project's gates and rules, as far as they are this phase's. */
function rails({ state, attempt }: Own): string {
  const { phase } = attempt;
  const { bounds } = state.blueprint;
  const gates = gatesOf(state, attempt).map(
    ({ name, run, red }) => `${inline(name)} (${code(run)}${red ? ", has to be red" : ""})`,
  );
  const bound =
    gates.length > 0 ? `Gates: ${gates.join(", ")}. Each may fail ${bounds.failures} times.` : "";
  const rules = phase.writes ? state.blueprint.body : "";
  const steps = [bound, phase.steps, rules].filter((text) => text !== "");
  return steps.length > 0 ? `## Rails\n\n${steps.join("\n\n")}` : "";
}

function handoffOf({ tasks }: Own["state"], id: string): string {
  const handoff = tasks.get(id)?.result?.submitted?.handoff;
  return handoff ? `## What task ${id} left\n\n${quoted(handoff, HANDOFF_CHARACTERS)}` : "";
}

/** The tasks that landed what the attempt before clashed with: both sides' intent is to survive. */
function othersIn({ state, attempt: { task } }: Own): string[] {
  const { over, submitted } = task.result ?? {};
  const paths = over?.reason === "conflict" ? (submitted?.paths ?? []) : [];
  const landed = [...state.tasks.values()].filter(
    (other) => other.state === "landed" && other !== task,
  );
  const touched = landed.filter(({ result }) =>
    result?.submitted?.paths.some((path) => paths.includes(path)),
  );
  return touched.map(({ id }) => id).filter((id) => !task.depends.includes(id));
}

/** The attempts whose words an attempt gets to read: all that the task's phases left, the newest of
 * each. One that judges reads what was found before, and never the story of whoever made what it
 * looks at. */
function before({ task, phase }: AttemptState): AttemptState[] {
  const isRead = (each: AttemptState): boolean =>
    !(phase.back || phase.picks) || each.phase === phase || !each.phase.writes;
  const isOther = (each: AttemptState): boolean => !hasRounds(phase) || each.phase !== phase;
  const left = task.attempts.filter(
    (each) => each.submitted && !each.over && isIts(task, each) && isRead(each) && isOther(each),
  );
  return left.filter((each, at) => !left.slice(at + 1).some((later) => later.phase === each.phase));
}

function leftBy({ phase, submitted }: AttemptState): string {
  const left = quoted(submitted?.handoff ?? "", PHASE_CHARACTERS);
  return `## What phase ${inline(phase.name)} left\n\n${left}`;
}

/** What one that judges looks at: the whole of the run, or what was made of a task. */
function whatToJudge(own: Own): string {
  const { task, phase } = own.attempt;
  if (task.id === SUCCESS) return theWhole(own);
  if (phase.picks) return toChoose(own);
  return phase.back ? toJudge(own) : "";
}

/** The whole of a run: what changed, what each task came to, and what workers found. */
function theWhole({ state }: Own): string {
  const tasks = [...state.tasks.values()].filter(isListed).map(({ id, title, state: now }) => {
    return `- ${inline(id)} ${inline(title)}: ${now}`;
  });
  const found = findingsOf(state).map(
    ({ task, slot, text }) => `- ${inline(task)}, ${inline(slot)}: ${prose(text, "  ")}`,
  );
  const range = `${state.base.slice(0, 10)} ${state.tip.slice(0, 10)}`;
  return [
    `## To judge\n\nThe whole: \`git diff ${range}\`. All gates are green on it. Each finding that ` +
      "keeps the whole from being what it is to be becomes a task.",
    tasks.join("\n"),
    ...(found.length > 0 ? [`Workers found beside their tasks:\n\n${found.join("\n")}`] : []),
  ].join("\n\n");
}

/** What there is to judge: the change, and the evidence for it. */
function toJudge(own: Own): string {
  const { begun, task } = own.attempt;
  const { head = "", tree = "" } = task.result?.submitted ?? {};
  const range = `${begun?.base.slice(0, 10)} ${head.slice(0, 10)}`;
  const raw = rawOf(own, tree).join("\n");
  return `## To judge\n\nThe change: \`git diff ${range}\`. Raw output of its gates:\n${raw}`;
}

/** What earlier attempts came to and left, for this one to look at and to take over. */
function earlier({ task }: AttemptState, output: string): string {
  const lines: string[] = [];
  for (const { id, over, begun } of task.attempts) {
    if (!over) continue;
    const left = begun
      ? `Its work is on ${named(begun.branch)}; what it did not commit may still lie in ${named(begun.worktree)}.`
      : "";
    lines.push(`- ${id}: ${over.reason}. ${inline(over.note)} ${left}`);
  }
  if (lines.length === 0) return "";
  const raw = `Raw output is in ${named(output)}. Find out why it failed, then take another approach.`;
  return `## Tried before\n\n${lines.join("\n")}\n${raw}`;
}
