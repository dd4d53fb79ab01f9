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

/** A risk, and in words why; both empty where nothing speaks for one. */
export type FoundRisk = Readonly<{ risk: Risk; why: string }>;

/** The greatest risk that the blueprint sees in words and paths; nobody can say less of a task.
 * @param said the text whose words count; may be empty
 * @param prefix the folder that the paths are written for; empty where they are git's */
export function riskOf(
  rules: Blueprint["risks"],
  said: string,
  paths: readonly string[],
  prefix: string,
): FoundRisk {
  let found: FoundRisk = { risk: "", why: "" };
  for (const rule of rules) {
    if (isAtLeast(found.risk, rule.risk)) continue;
    const patterns = rule.paths.map(anywhere);
    const word = wordIn(said, rule.words);
    const path = paths.find((one) => matchesAny(patterns, one, prefix));
    if (word === undefined && path === undefined) continue;
    found = { risk: rule.risk, why: word ? quote(word) : (path ?? "") };
  }
  return found;
}

/** What a workflow is chosen by. */
type Described = Pick<Task, "title" | "description" | "files" | "risk">;

/** A workflow, and in words why it fits. */
export type Choice = Readonly<{ workflow: Workflow; why: string }>;

/** The first of the workflows that fits a task; the last fits always.
 * @param order those that are tried
 * @param prefix the folder that the list is for */
export function chooseWorkflow(
  task: Described,
  order: readonly Workflow[],
  prefix: string,
): Choice {
  for (const workflow of order)
    for (const fit of workflow.for) {
      const why = whyFits(task, fit, prefix);
      if (why !== null) return { workflow, why };
    }
  return { workflow: order.at(-1) as Workflow, why: "no other fits" };
}

/** All that speaks for a task's fitting, or null where something of it does not hold, or nothing is
 * asked for. */
function whyFits(task: Described, fit: Fit, prefix: string): string | null {
  const reasons: string[] = [];
  if (fit.risk !== undefined) {
    if (task.risk !== fit.risk) return null;
    reasons.push(`risk ${fit.risk}`);
  }
  if (fit.words) {
    const word = wordIn(`${task.title}\n${task.description}`, fit.words);
    if (word === undefined) return null;
    reasons.push(quote(word));
  }
  if (fit.paths) {
    const patterns = fit.paths;
    const file = task.files.find(({ path }) => matchesAny(patterns, path, prefix));
    if (!file) return null;
    reasons.push(file.path);
  }
  if (fit.files !== undefined) {
    const count = task.files.length;
    if (count === 0 || count > fit.files) return null;
    reasons.push(count === 1 ? "1 file" : `${count} files`);
  }
  return reasons.length > 0 ? reasons.join(", ") : null;
}
