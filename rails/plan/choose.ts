import type { Fit, Workflow } from "../blueprint/workflow.ts";
import { matches } from "./conflicts.ts";
import { quote } from "./lines.ts";
import { wordIn } from "./risk.ts";
import type { Task } from "./task.ts";

/** The first of the workflows that fits a task, and in words why; the last fits always.
 * @param order those that are tried
 * @param prefix the folder that the list is for */
export function chooseWorkflow(task: Said, order: readonly Workflow[], prefix: string): [Workflow, why: string] {
  for (const workflow of order) {
    const why = workflow.for.map((fit) => whyFits(task, fit, prefix)).find((one) => one !== null);
    if (why) return [workflow, why];
  }
  return [order.at(-1) as Workflow, "no other fits"];
}

type Said = Pick<Task, "title" | "description" | "files" | "risk">;

/** All that speaks for it, or null where something of it does not hold. */
function whyFits({ title, description, files, risk }: Said, fit: Fit, prefix: string): string | null {
  const word = fit.words && wordIn(`${title}\n${description}`, fit.words);
  const isMeant = (path: string): boolean => fit.paths?.some((one) => matches(one, path, prefix)) === true;
  const path = files.find((file) => isMeant(file.path))?.path;
  const isFew = files.length > 0 && files.length <= (fit.files ?? 0);
  const all = [
    fit.risk && (fit.risk === risk ? `risk ${risk}` : null),
    fit.words && (word === undefined ? null : quote(word)),
    fit.paths && (path ?? null),
    fit.files !== undefined && (isFew ? `${files.length} file${files.length > 1 ? "s" : ""}` : null),
  ];
  return all.includes(null) ? null : all.filter(Boolean).join(", ");
}
