import { join } from "node:path";
import type { Own } from "./attempt.ts";

/** How much of a handoff goes to those that build on it; the whole is in the journal. */
const HANDOFF_CHARACTERS = 1200;

/** What a worker is told at the start: its task, what it may touch, its expertise, what came before, and the rails. */
export function brief({ attempt, state, journal }: Own, overlay: (name: string) => string): string {
  const { title, description, files, forbid, gates: proof, doneWhen, verify, risk, agent, depends } = attempt.task;
  const fields = {
    Files: files.map(({ path, guessed }) => (guessed ? `${path} (a guess)` : path)).join(", "),
    "Do not touch": forbid.join(", "),
    "May change, though gates stand on it": proof.join(", "),
    "Done when": doneWhen,
    Verify: verify,
    Risk: risk,
  };
  const gates = state.gates.map(({ name, run }) => `${name} (\`${run}\`)`).join(", ");
  const where = state.prefix && ` The list was written in ${state.prefix}/: its paths count from there.`;
  const parts = [
    `# ${attempt.id}: ${title}\n\nYou are on ${attempt.begun?.branch}, at the tip of the line.${where}`,
    description,
    Object.entries(fields).reduce((text, [name, value]) => text + (value && `- ${name}: ${value}\n`), ""),
    ...[...agent, attempt.agent].filter(Boolean).map(overlay),
    ...depends.map((id) => handoffOf(state, id)),
    earlier(attempt, join(journal.folder, "output")),
    `## Rails\n\nGates: ${gates}. Each may fail ${state.blueprint.bounds.failures} times.\n\n${state.blueprint.body}`,
  ];
  return parts.flatMap((part) => part.trim() || []).join("\n\n");
}

function handoffOf({ tasks }: Own["state"], id: string): string {
  const handoff = tasks.get(id)?.attempts.findLast(({ submitted }) => submitted)?.submitted?.handoff;
  return handoff ? `## What task ${id} left\n\n${handoff.slice(0, HANDOFF_CHARACTERS)}` : "";
}

/** What earlier attempts came to and left, for this one to look at and to take over. */
function earlier({ task }: Own["attempt"], output: string): string {
  const lines = task.attempts.flatMap(({ id, over, begun }) => {
    const left = begun && `Its work is on ${begun.branch}; what it did not commit may still lie in ${begun.worktree}.`;
    return over ? `- ${id}: ${over.reason}. ${over.note} ${left ?? ""}` : [];
  });
  const raw = `Raw output is in ${output}. Find out why it failed, then take another approach.`;
  return lines.length > 0 ? `## Tried before\n\n${lines.join("\n")}\n${raw}` : "";
}
