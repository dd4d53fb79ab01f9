import { join } from "node:path";
import type { Own } from "./attempt.ts";

/** How much of a handoff goes to those that build on it; the whole is in the journal. */
const HANDOFF_CHARACTERS = 1200;

/** What a worker is told at the start: its task, what it may touch, its expertise, what came before, and the rails. */
export function brief({ task, attempt, state, journal }: Own, overlay: (name: string) => string): string {
  const { title, description, files, forbid, doneWhen, verify, risk, agent } = task.task;
  const field = (name: string, value: string): string => (value ? `- ${name}: ${value}\n` : "");
  const parts = [
    `# ${attempt.id}: ${title}\n\nYou are on ${attempt.begun?.branch}, at the tip of the line.`,
    description,
    field("Files", files.map(({ path, guessed }) => (guessed ? `${path} (a guess)` : path)).join(", ")) +
      field("Do not touch", forbid.join(", ")) +
      field("Done when", doneWhen) +
      field("Verify", verify) +
      field("Risk", risk),
    ...agent.map(overlay),
    task.task.depends.map((id) => handoffOf(state, id)).join(""),
    attempt === task.attempts[0] ? "" : earlier(task.attempts, join(journal.folder, "output")),
    `## Rails\n\nGates: ${state.gates.map(({ name, run }) => `${name} (\`${run}\`)`).join(", ")}. ` +
      `Each may fail ${state.blueprint.bounds.failures} times.\n\n${state.blueprint.body}`,
  ];
  return parts
    .map((part) => part.trim())
    .filter(Boolean)
    .join("\n\n");
}

function handoffOf(state: Own["state"], id: string): string {
  const handoff = state.tasks.get(id)?.attempts.findLast(({ submitted }) => submitted)?.submitted?.handoff ?? "";
  return handoff && `## What task ${id} left\n\n${handoff.slice(0, HANDOFF_CHARACTERS)}\n\n`;
}

function earlier(attempts: Own["task"]["attempts"], output: string): string {
  const lines = attempts
    .filter(({ over }) => over)
    .map(
      ({ id, over, begun }) =>
        `- ${id}: ${over?.reason}. ${over?.note ?? ""} ${begun ? `Its work is on ${begun.branch}.` : ""}`,
    );
  return `## Tried before\n\n${lines.join("\n")}\nRaw output is in ${output}. Find out why it failed, then take another approach.`;
}
