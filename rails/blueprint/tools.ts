/** Shell text, the folder to run it in (`` is the root), and where it was found, for people:
 * `package.json: scripts.lint`. */
export type Tool = Readonly<{ run: string; cwd: string; source: string }>;

export const TOOL_NAMES = ["setup", "lint", "test", "build"] as const;

export type ToolName = (typeof TOOL_NAMES)[number];

export type Tools = Readonly<Record<ToolName, Tool | null>>;
