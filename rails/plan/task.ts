import type { ToolName } from "../blueprint/tools.ts";

/** A path, folder or glob that a task may touch, relative to the list's folder; guessed, or said by
 * the person. */
export type TaskFile = Readonly<{
  path: string;
  guessed: boolean;
  literal?: true; // A path as it is, whatever signs there are in it
}>;

/** One unit of work as the person or the orchestrator wrote it. Empty string or list: not said. */
export interface Task {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly depends: readonly string[]; // Ids, spelled as the tasks that they name spell them
  readonly files: readonly TaskFile[];
  readonly forbid: readonly string[];
  // What of its proof it may change: tests, configuration, `package.json#scripts`
  readonly gates: readonly string[];
  readonly agent: readonly string[];
  readonly doneWhen: string;
  readonly verify: string;
  // What of that is commands: written as code, or known to be some. They are gates of the task
  readonly checks: readonly string[];
  // A command: one task for each line that it prints, `{}` in any field standing for the line
  readonly each?: string;
  readonly measure?: string; // `lowest` or `highest` and a command, by which variants are compared
  readonly ask: string; // A question that it waits for: it is started stopped
  readonly risk: "" | "low" | "medium" | "high";
  readonly model: string; // As Claude Code names it: opus, sonnet, haiku, or a whole name
  readonly workflow: string;
  readonly done: boolean; // Marked as done in the list: counted as landed before the run
  readonly line: number;
}

/** The id of the task that one is part of, `A` for `A/1`; null where it is part of none: `A.1` names
 * an attempt. */
export function parentOf(id: string): string | null {
  const at = id.lastIndexOf("/");
  return at < 0 ? null : id.slice(0, at);
}

/** How many tasks one lies in. */
export const depthOf = (id: string): number => id.split("/").length - 1;

/** Something about a list that whoever wrote it should know; an error stops the run. Line 0: about
 * the list as a whole. */
export type Finding = Readonly<{
  level: Level;
  code: string;
  line: number;
  message: string;
  hint: string;
}>;
/** How much it matters. */
export type Level = "error" | "warning" | "note";

/** A finding; an error unless said otherwise. */
export function finding(
  code: string,
  line: number,
  message: string,
  hint: string,
  level: Level = "error",
): Finding {
  return { level, code, line, message, hint };
}

/** Two tasks that never run at the same time: both touch these paths, as the first writes them.
 * Guessed: all of it. */
export type Conflict = Readonly<{
  tasks: readonly [string, string];
  paths: readonly string[];
  guessed: boolean;
}>;

/** A task with what follows from the list as a whole. */
export interface PlannedTask extends Task {
  readonly wave: number;
  readonly workflowWhy: string; // Why it has the workflow that it has
}

/** What `minion plan` knows of a list. The critical path is the longest chain of dependencies,
 * first to last. */
export interface Plan {
  readonly goal: string; // This and `success` are empty where the list does not say them
  readonly success: string; // What shows that the whole is a success
  // Commands that win over those that are found
  readonly toolsSaid: Readonly<{ [N in ToolName]?: string | undefined }>;
  readonly tasks: readonly PlannedTask[];
  readonly waves: readonly (readonly string[])[];
  readonly criticalPath: readonly string[];
  readonly conflicts: readonly Conflict[];
  readonly findings: readonly Finding[];
}
