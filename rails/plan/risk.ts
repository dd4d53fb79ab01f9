import type { Blueprint } from "../blueprint/blueprint.ts";
import type { Fit, Workflow } from "../blueprint/workflow.ts";
import { anywhere, matchesAny } from "./conflicts.ts";
import { quote } from "./lines.ts";
import type { Task } from "./task.ts";

type Risk = Task["risk"];
const ORDER: readonly Risk[] = ["", "low", "medium", "high"];

/** Is a risk as great as another one, or greater? */
export const isAtLeast = (risk: Risk, least: Risk): boolean =>
  ORDER.indexOf(risk) >= ORDER.indexOf(least);

/** What a text says first that one of some patterns matches, or undefined. */
export const wordIn = (said: string, patterns: readonly string[]): string | undefined =>
  patterns.map((one) => new RegExp(one, "i").exec(said)?.[0]).find((one) => one !== undefined);

/** The greatest risk that the blueprint sees in words and paths, and in words why; nobody can say
 * less of a task.
 * @param prefix the folder that the paths are written for; empty where they are git's */
export function riskOf(
  rules: Blueprint["risks"],
  said: string,
  paths: readonly string[],
  prefix: string,
): [Risk, string] {
  let found: [Risk, string] = ["", ""];
  for (const { risk, words, paths: patterns } of rules) {
    const word = wordIn(said, words);
    const path = paths.find((path) => matchesAny(patterns.map(anywhere), path, prefix));
    if ((word ?? path) !== undefined && !isAtLeast(found[0], risk))
      found = [risk, word ? quote(word) : (path as string)];
  }
  return found;
}

/** The first of the workflows that fits a task, and in words why; the last fits always.
 * @param order those that are tried
 * @param prefix the folder that the list is for */
export function chooseWorkflow(
  task: Said,
  order: readonly Workflow[],
  prefix: string,
): [Workflow, why: string] {
  for (const workflow of order) {
    const why = workflow.for.map((fit) => whyFits(task, fit, prefix)).find((one) => one !== null);
    if (why) return [workflow, why];
  }
  return [order.at(-1) as Workflow, "no other fits"];
}

type Said = Pick<Task, "title" | "description" | "files" | "risk">;

/** All that speaks for it, or null where something of it does not hold. */
function whyFits(
  { title, description, files, risk }: Said,
  fit: Fit,
  prefix: string,
): string | null {
  const word = fit.words && wordIn(`${title}\n${description}`, fit.words);
  const path = files.find((file) => matchesAny(fit.paths ?? [], file.path, prefix))?.path;
  const isFew = files.length > 0 && files.length <= (fit.files ?? 0);
  const all = [
    fit.risk && (fit.risk === risk ? `risk ${risk}` : null),
    fit.words && (word === undefined ? null : quote(word)),
    fit.paths && (path ?? null),
    fit.files !== undefined &&
      (isFew ? `${files.length} file${files.length > 1 ? "s" : ""}` : null),
  ];
  return all.includes(null) ? null : all.filter(Boolean).join(", ");
}
