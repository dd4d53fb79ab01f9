import { gitText } from "../git/git.ts";
import type { Place } from "../git/repository.ts";
import type { RunState } from "../journal/state.ts";
import type { Size } from "./flows-text.ts";

/** How much the variants of a run changed, by attempt. */
export async function sizesOf(
  { attempts }: RunState,
  { main }: Place,
): Promise<ReadonlyMap<string, Size>> {
  const sizes = new Map<string, Size>();
  for (const { id, variant, begun, submitted } of attempts.values()) {
    if (variant === 0 || !begun || !submitted) continue;
    const range = [begun.base, submitted.head];
    const text = await gitText(main, "diff", "--numstat", ...range).catch(() => null);
    sizes.set(id, text === null ? null : sizeIn(text));
  }
  return sizes;
}

/** Of a binary file git counts no lines. */
function sizeIn(numstat: string): Size {
  const rows = numstat.split("\n").filter(Boolean);
  const sum = (column: number): number =>
    rows.reduce((total, row) => total + (Number(row.split("\t")[column]) || 0), 0);
  return { files: rows.length, added: sum(0), removed: sum(1) };
}
