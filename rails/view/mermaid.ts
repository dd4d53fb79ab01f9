import width from "fast-string-width";
import type { Plan } from "../plan/task.ts";
import { oneLine } from "./text.ts";

/** A plan as a Mermaid flowchart: tasks by wave, arrows to what depends on them, dotted lines between those that conflict;
 * errors as comments. */
export function mermaid({ tasks, waves, conflicts, findings }: Plan): string {
  const nodes = new Map(
    tasks.map(({ id, title }, index) => [id, { name: `t${index}`, text: label(`${id}: ${title}`) }]),
  );
  const inWave = new Set(waves.flat());
  const rest = [...nodes.keys()].filter((id) => !inWave.has(id));
  const boxes = [rest, ...waves].flatMap((ids, wave) => {
    const lines = ids.map((id) => `    ${nodes.get(id)?.name}["${nodes.get(id)?.text}"]`);
    const title = wave === 0 ? "done, or in no wave" : `wave ${wave}`;
    return ids.length > 0 ? [`  subgraph w${wave}["${title}"]`, ...lines, "  end"] : [];
  });
  const line = (one: string, arrow: string, other: string): string[] =>
    nodes.has(one) ? [`  ${nodes.get(one)?.name} ${arrow} ${nodes.get(other)?.name}`] : [];
  return [
    ...["flowchart LR", ...boxes],
    ...tasks.flatMap(({ id, depends }) => depends.flatMap((one) => line(one, "-->", id))),
    ...conflicts.flatMap((conflict) => line(conflict.tasks[0], "-.-", conflict.tasks[1])),
    ...findings.flatMap(({ level, line, message }) =>
      level === "error" ? `  %% line ${line}: ${label(message)}` : [],
    ),
  ].join("\n");
}

/** A text as Mermaid takes it between quotes, what is more than letters and plain marks by its number; 60 columns at most,
 * so that a line fits 80. */
function label(text: string): string {
  let escaped = "";
  for (const char of oneLine(text)) {
    const next = /[\p{L}\p{M}\p{N} .,:()/_-]/u.test(char) ? char : `#${char.codePointAt(0)};`;
    if (width(escaped + next) >= 60) return `${escaped}…`;
    escaped += next;
  }
  return escaped;
}
