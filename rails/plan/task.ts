/** A file that a task may touch: a path, folder or glob, relative to the folder that the list is for. */
export interface TaskFile {
  readonly path: string;
  /** True where the orchestrator guessed it rather than the person saying so. */
  readonly guessed: boolean;
}

/** One unit of work as the person or the orchestrator wrote it. Empty string or list: not said. */
export interface Task {
  /** As written: `1`, `a`, `T001`. Matched without regard to case. */
  readonly id: string;
  readonly title: string;
  /** The rest of what to do, Markdown. */
  readonly description: string;
  /** Ids, spelled as the tasks that they name spell them. */
  readonly depends: readonly string[];
  readonly files: readonly TaskFile[];
  readonly forbid: readonly string[];
  /** Names of overlays or of the project's own agents. */
  readonly agent: readonly string[];
  readonly doneWhen: string;
  readonly verify: string;
  readonly risk: "" | "low" | "medium" | "high";
  /** Marked as done in the list: counted as landed before the run. */
  readonly done: boolean;
  /** Line of the list, from 1. */
  readonly line: number;
}

/** Something about a list that whoever wrote it should know; an error stops the run before it starts. */
export interface Finding {
  readonly level: "error" | "warning" | "note";
  readonly code: string;
  /** Line of the list, from 1; 0 where it is about the list or the repository as a whole. */
  readonly line: number;
  readonly message: string;
  readonly hint: string;
}

/** Two tasks that would touch the same place: they never run at the same time. */
export interface Conflict {
  readonly tasks: readonly [string, string];
  /** The places, as the first of the two writes them. */
  readonly paths: readonly string[];
  /** True where each overlap rests on a guessed path. */
  readonly guessed: boolean;
}

/** A command of the project: shell text, run in `cwd` (relative to the repository's root, `` for the root). */
export interface Tool {
  readonly run: string;
  readonly cwd: string;
  /** Where it was found, for people: `package.json: scripts.lint`. */
  readonly source: string;
}

export const TOOL_NAMES = ["setup", "lint", "test", "build"] as const;
export type ToolName = (typeof TOOL_NAMES)[number];
export type Tools = Readonly<Record<ToolName, Tool | null>>;

/** What `minion plan` knows of a list. */
export interface Plan {
  readonly tasks: readonly (Task & { readonly wave: number })[];
  readonly waves: readonly (readonly string[])[];
  /** The longest chain of dependencies, first to last. */
  readonly criticalPath: readonly string[];
  readonly conflicts: readonly Conflict[];
  readonly findings: readonly Finding[];
}
