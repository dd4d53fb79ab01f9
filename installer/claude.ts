import { spawn } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Code, type Finding, finding } from "./finding.ts";
import { onPath, type Surroundings } from "./paths.ts";

/** The oldest Claude Code that loads a plugin from `skills/<name>/`. */
export const CLAUDE_NEEDED = "2.1.157";

export interface LoadedPlugin {
  readonly id: string;
  readonly version: string;
  readonly enabled: boolean;
  readonly installPath?: string;
  readonly errors?: readonly unknown[];
}

/** The real client, where there is one. */
export const findClaude = ({ env }: Surroundings): string | undefined => onPath("claude", env)[0];

/** Runs a program to its end; undefined where it cannot be started or takes longer than 30 s. */
export function run(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd?: string,
): Promise<{ code: number; stdout: string } | undefined> {
  return new Promise((done) => {
    // npm lays a .cmd on Windows, which only a shell can start; the arguments are ours, and paths are quoted.
    const shell = /\.(cmd|bat)$/i.test(file);
    const quote = (text: string): string => (shell ? `"${text}"` : text);
    const child = spawn(quote(file), args.map(quote), {
      env,
      cwd,
      shell,
      timeout: 30_000,
      stdio: ["ignore", "pipe", "ignore"],
    });
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text;
    });
    child.on("error", () => done(undefined));
    child.on("close", (code) => done(code === null ? undefined : { code, stdout }));
  });
}

/** The first version number that a program's `--version` prints. */
export async function versionOf(file: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  return /\d+\.\d+(\.\d+)?/.exec((await run(file, ["--version"], env))?.stdout ?? "")?.[0];
}

/** Whether `version` is at least `needed`. */
export function enough(version: string, needed: string): boolean {
  const [have, want] = [version, needed].map((text) => text.split(".").map(Number));
  for (const [index, number] of (want ?? []).entries()) {
    const difference = (have?.[index] ?? 0) - number;
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/**
 * What Claude Code loads from a root; undefined where it does not answer.
 * With `foreign` the root is not the client's own. It writes its state into the root that it is given, so it gets another one, with a link to the skills.
 */
export async function askPlugins(
  claude: string,
  root: string,
  foreign: boolean,
  { env, cwd }: Surroundings,
): Promise<LoadedPlugin[] | undefined> {
  const temporary = foreign ? await mkdtemp(join(tmpdir(), "minion-doctor-")) : undefined;
  try {
    if (temporary) await symlink(join(root, "skills"), join(temporary, "skills"), "junction");
    const asked = await run(
      claude,
      ["plugin", "list", "--json"],
      temporary ? { ...env, CLAUDE_CONFIG_DIR: temporary } : env,
      cwd,
    );
    const list = JSON.parse(asked?.stdout ?? "");
    return Array.isArray(list) ? list : undefined;
  } catch {
    return undefined;
  } finally {
    if (temporary) await rm(temporary, { recursive: true, force: true });
  }
}

/** Claude Code's own findings about a folder; undefined where it does not answer. */
export async function askValidate(claude: string, path: string): Promise<Finding[] | undefined> {
  const asked = await run(claude, ["plugin", "validate", "--json", path], process.env);
  try {
    const { manifest, contents } = JSON.parse(asked?.stdout ?? "");
    return [manifest, ...contents].filter(Boolean).flatMap(({ file, errors, warnings }) => {
      const all = (list: { path: string; message: string }[], code: Code): Finding[] =>
        list.map(({ path: field, message }) => finding(code, file, { message }, { field }));
      return [...all(errors, "claude-error"), ...all(warnings, "claude-warning")];
    });
  } catch {
    return undefined;
  }
}
