import { join } from "node:path";
import type { Overlay } from "../blueprint/overlay.ts";
import { evidenceFor, gatesOf } from "../journal/evidence.ts";
import type { AttemptState } from "../journal/state.ts";
import { code, inline, listed, named, prose, shown } from "../program/shown.ts";
import type { Own } from "./attempt.ts";

/** How much of a handoff goes to those that build on the task, and to the task's own next phase.
 * The whole is in the journal. */
const HANDOFF_CHARACTERS = 1200;
const PHASE_CHARACTERS = 8000;

/** What a worker is told at the start: its task, what it may touch, its expertise, what came
 * before, and the rails. */
export function brief(own: Own, overlay: (name: string) => Overlay | undefined): string {
  const { attempt, state, journal } = own;
  const { task, phase } = attempt;
  const {
    title,
    description,
    files,
    forbid,
    gates: proof,
    doneWhen,
    verify,
    risk,
    agent,
    depends,
  } = task;
  const fields = {
    Files: files.map(({ path, guessed }) => named(path) + (guessed ? " (a guess)" : "")).join(", "),
    "Do not touch": listed(forbid),
    "May change, though gates stand on it": listed(proof),
    "Done when": doneWhen.split("\n").map(inline).join("; "),
    Verify: verify === "" ? "" : verify.split("\n").map(code).join(", "),
    Risk: risk,
    "Part of": inline(
      [state.goal, state.success && `a success if: ${state.success}`].filter(Boolean).join("; "),
    ),
  };
  // A role says how to work: a phase that brings its own leaves no room for the task's.
  const experts = phase.agent
    ? [...agent.filter((name) => !overlay(name)?.isRole), phase.agent]
    : agent;
  const where =
    state.prefix && ` The list was written in ${named(state.prefix)}/: its paths count from there.`;
  const part = task.phases.length > 1 ? ` This is its phase ${phase.name}.` : "";
  const stands =
    task.result && !task.result.over
      ? "on what earlier phases made of it"
      : "at the tip of the line";
  const parts = [
    `# ${attempt.id}: ${inline(title)}\n\nYou are on ${named(attempt.begun?.branch ?? "")}, ${stands}.${part}${where}`,
    shown(description),
    Object.entries(fields).reduce(
      (text, [name, value]) => text + (value && `- ${name}: ${value}\n`),
      "",
    ),
    ...[...experts, attempt.agent].map((name) => overlay(name)?.body ?? ""),
    ...depends.map((id) => handoffOf(state, id)),
    phase.back ? toJudge(own) : "",
    ...before(attempt).map(({ phase, submitted }) => {
      const left = quoted(submitted?.handoff ?? "", PHASE_CHARACTERS);
      return `## What phase ${inline(phase.name)} left\n\n${left}`;
    }),
    ...othersIn(own).map((id) => handoffOf(state, id)),
    earlier(attempt, join(journal.folder, "output")),
    rails(own),
  ];
  return parts.flatMap((part) => part.trim() || []).join("\n\n");
}

function rails({ state, attempt: { phase } }: Own): string {
  const { bounds } = state.blueprint;
  const gates = gatesOf(state, phase).map(
    ({ name, run, red }) => `${inline(name)} (${code(run)}${red ? ", has to be red" : ""})`,
  );
  const bound =
    gates.length > 0 ? `Gates: ${gates.join(", ")}. Each may fail ${bounds.failures} times.` : "";
  const steps = [bound, phase.steps, phase.writes ? state.blueprint.body : ""].filter(Boolean);
  return steps.length > 0 ? `## Rails\n\n${steps.join("\n\n")}` : "";
}

function handoffOf({ tasks }: Own["state"], id: string): string {
  const handoff = tasks.get(id)?.result?.submitted?.handoff;
  return handoff ? `## What task ${id} left\n\n${quoted(handoff, HANDOFF_CHARACTERS)}` : "";
}

/** The words of another worker: nothing in them is a heading or a rule of the page that quotes
 * them. What is too much is cut, and says so. */
function quoted(text: string, most: number): string {
  const chars = Array.from(text);
  const left = chars.length - most;
  const cut = left > 0 ? `\n[… ${left} more characters: they stand in the run's journal]` : "";
  return `> ${prose(chars.slice(0, most).join("") + cut, "> ")}`;
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
  return touched.flatMap(({ id }) => (task.depends.includes(id) ? [] : id));
}

/** The attempts whose words an attempt gets to read: all that the task's phases left, the newest of
 * each. One that judges reads what was found before, and never the story of whoever made what it
 * looks at. */
function before({ task, phase }: AttemptState): AttemptState[] {
  const isRead = (each: AttemptState): boolean =>
    !phase.back || each.phase === phase || !each.phase.writes;
  const left = task.attempts.filter((each) => each.submitted && !each.over && isRead(each));
  return left.filter((each, at) => !left.slice(at + 1).some((later) => later.phase === each.phase));
}

/** What there is to judge: the change, and the evidence for it: each command and where its raw
 * output lies. */
function toJudge({ state, attempt: { begun, task }, journal }: Own): string {
  const { head = "", tree = "" } = task.result?.submitted ?? {};
  const raw = state.gates.flatMap((gate) => {
    const path = evidenceFor(state, gate, tree)?.output;
    return path
      ? `- ${inline(gate.name)} (${code(gate.run)}): ${named(join(journal.folder, path))}`
      : [];
  });
  const range = `${begun?.base.slice(0, 10)} ${head.slice(0, 10)}`;
  return `## To judge\n\nThe change: \`git diff ${range}\`. Raw output of its gates:\n${raw.join("\n")}`;
}

/** What earlier attempts came to and left, for this one to look at and to take over. */
function earlier({ task }: AttemptState, output: string): string {
  const lines = task.attempts.flatMap(({ id, over, begun }) => {
    const left =
      begun &&
      `Its work is on ${named(begun.branch)}; ` +
        `what it did not commit may still lie in ${named(begun.worktree)}.`;
    return over ? `- ${id}: ${over.reason}. ${inline(over.note)} ${left ?? ""}` : [];
  });
  const raw = `Raw output is in ${named(output)}. Find out why it failed, then take another approach.`;
  return lines.length > 0 ? `## Tried before\n\n${lines.join("\n")}\n${raw}` : "";
}
