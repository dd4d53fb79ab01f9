import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Finding, finding } from "./finding.ts";
import { onPath, type Surroundings } from "./paths.ts";

/** The oldest Claude Code that loads a plugin from `skills/<name>/`. */
export const CLAUDE_NEEDED = "2.1.157";

export interface LoadedPlugin {
  readonly id: string;
  readonly enabled: boolean;
  readonly errors?: readonly unknown[];
}

/** The real client, where there is one. */
export const findClaude = ({ env }: Surroundings): string | undefined => onPath("claude", env)[0];

/** Runs a program to its end; undefined where it cannot be started or takes longer than 30 s. */
export function run(
  file: string,
  args: readonly string[],
  { env, cwd }: Surroundings,
): Promise<{ code: number; stdout: string } | undefined> {
  return new Promise((done) => {
    // npm lays a .cmd on Windows, which only a shell can start; the arguments are ours, and paths are quoted.
    const shell = /\.(cmd|bat)$/i.test(file);
    const [program = "", ...rest] = [file, ...args].map((text) => (shell ? `"${text}"` : text));
    const child = spawn(program, rest, { env, cwd, shell, timeout: 30_000, stdio: ["ignore", "pipe", "ignore"] });
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text;
    });
    child.on("error", () => done(undefined));
    child.on("close", (code) => done(code === null ? undefined : { code, stdout }));
  });
}

/** The first version number that a program's `--version` prints. */
export async function versionOf(file: string, at: Surroundings): Promise<string | undefined> {
  return /\d+\.\d+(\.\d+)?/.exec((await run(file, ["--version"], at))?.stdout ?? "")?.[0];
}

/** Whether `version` is at least `needed`. */
export function enough(version: string, needed: string): boolean {
  return version.localeCompare(needed, "en", { numeric: true }) >= 0;
}

/**
 * What Claude Code loads from a root; undefined where it does not answer.
 * @param foreign the root is not the client's own: it would write its state there, so it is given a passing one with a link to the skills
 */
export async function askPlugins(
  claude: string,
  root: string,
  foreign: boolean,
  at: Surroundings,
): Promise<LoadedPlugin[] | undefined> {
  const passing = foreign ? mkdtempSync(join(tmpdir(), "minion-doctor-")) : undefined;
  try {
    if (passing) symlinkSync(join(root, "skills"), join(passing, "skills"), "junction");
    const env = passing ? { ...at.env, CLAUDE_CONFIG_DIR: passing } : at.env;
    const list = JSON.parse((await run(claude, ["plugin", "list", "--json"], { ...at, env }))?.stdout ?? "");
    return Array.isArray(list) ? list : undefined;
  } catch {
    return undefined;
  } finally {
    if (passing) rmSync(passing, { recursive: true, force: true });
  }
}

/** Claude Code's own findings about a folder; undefined where it does not answer. */
export async function askValidate(claude: string, path: string, at: Surroundings): Promise<Finding[] | undefined> {
  type Theirs = Record<"errors" | "warnings", { path: string; message: string }[]> & { file: string };
  const asked = await run(claude, ["plugin", "validate", "--json", path], at);
  try {
    const { manifest, contents } = JSON.parse(asked?.stdout ?? "");
    return [manifest, ...contents]
      .filter(Boolean)
      .flatMap(({ file, errors, warnings }: Theirs) => [
        ...errors.map(({ path: field, message }) => finding("claude-error", file, { message }, 1, field)),
        ...warnings.map(({ path: field, message }) => finding("claude-warning", file, { message }, 1, field)),
      ]);
  } catch {
    return undefined;
  }
}
