import { join } from "node:path";
import { evidenceFor } from "../journal/evidence.ts";
import { code, inline, named, prose } from "../program/shown.ts";
import type { Own } from "./attempt.ts";

/** How much of a handoff goes to those that build on the task, and to the task's own next phase.
 * The whole is in the journal. */
export const HANDOFF_CHARACTERS = 1200;
export const PHASE_CHARACTERS = 8000;

/** The words of another worker: nothing in them is a heading or a rule of the page that quotes
 * them. What is too much is cut, and says so. */
export function quoted(text: string, most: number): string {
  const chars = Array.from(text);
  const left = chars.length - most;
  const cut = left > 0 ? `\n[… ${left} more characters: they stand in the run's journal]` : "";
  return `> ${prose(chars.slice(0, most).join("") + cut, "> ")}`;
}

/** Each gate that was run on some files, and where its raw output lies. */
export function rawOf({ state, journal }: Own, tree: string): string[] {
  return state.gates.flatMap((gate) => {
    const path = evidenceFor(state, gate, tree)?.output;
    return path
      ? [`- ${inline(gate.name)} (${code(gate.run)}): ${named(join(journal.folder, path))}`]
      : [];
  });
}
