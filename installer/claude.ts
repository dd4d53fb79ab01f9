import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXIT, Fault } from "../rails/program/fault.ts";
import { enough, NEEDED } from "../rails/program/versions.ts";
import { type Code, type Finding, finding } from "./finding.ts";
import { onPath, type Surroundings } from "./paths.ts";

/** @throws Fault `node` where the rails would be laid and not run */
export function refuseOldNode(version: string): void {
  if (enough(version, NEEDED.node)) return;
  throw new Fault(
    "node",
    `Node ${version} is too old: nothing was written`,
    `install Node ${NEEDED.node} or newer, then call again`,
    EXIT.usage,
  );
}

export const findClaude = ({ env }: Surroundings): string | undefined => onPath("claude", env)[0];

/** What a program prints, and whether it ended well; nothing where it cannot be started or takes
 * longer than 30 s. */
export function run(file: string, args: string[], { env, cwd }: Surroundings) {
  // npm lays a .cmd on Windows, which only a shell can start; the arguments are ours, and paths are
  // quoted.
  const shell = /\.(cmd|bat)$/i.test(file);
  const quoted = (text: string): string => (shell ? `"${text}"` : text);
  return new Promise<{ ok: boolean; stdout: string }>((done) => {
    const options = { env, cwd, shell, timeout: 30_000, maxBuffer: 2 ** 26 };
    const child = execFile(quoted(file), args.map(quoted), options, (error, stdout) =>
      done({ ok: !error, stdout }),
    );
    child.stdin?.end();
  });
}

/** The first version number that a program's `--version` prints. */
export async function versionOf(file: string, at: Surroundings): Promise<string | undefined> {
  const { stdout } = await run(file, ["--version"], at);
  return /\d+\.\d+(\.\d+)?/.exec(stdout)?.[0];
}

/** A plugin as Claude Code lists it. */
type Plugin = Readonly<{ id: string; enabled: boolean; errors?: readonly unknown[] }>;

/** What Claude Code loads from a root; undefined where it does not answer.
 * @param foreign the root is not the client's own: it would write its state there, so it is given a
 *   passing one with a link to the skills */
export async function askPlugins(
  claude: string,
  root: string,
  foreign: boolean,
  at: Surroundings,
): Promise<readonly Plugin[] | undefined> {
  const passing = mkdtempSync(join(tmpdir(), "minion-doctor-"));
  try {
    if (foreign) symlinkSync(join(root, "skills"), join(passing, "skills"), "junction");
    const env = foreign ? { ...at.env, CLAUDE_CONFIG_DIR: passing } : at.env;
    const { stdout } = await run(claude, ["plugin", "list", "--json"], { ...at, env });
    const list: unknown = JSON.parse(stdout);
    return Array.isArray(list) ? list : undefined;
  } catch {
    return undefined;
  } finally {
    rmSync(passing, { recursive: true, force: true });
  }
}

/** What Claude Code says about one file. */
type Checked = Readonly<{ file: string; errors: readonly Remark[]; warnings: readonly Remark[] }>;
type Remark = Readonly<{ path: string; message: string }>;

/** Claude Code's own findings about a folder; undefined where it does not answer. */
export async function askValidate(
  claude: string,
  path: string,
  at: Surroundings,
): Promise<Finding[] | undefined> {
  const { stdout } = await run(claude, ["plugin", "validate", "--json", path], at);
  try {
    const { manifest, contents } = JSON.parse(stdout);
    const checked: Checked[] = [manifest, ...contents].filter(Boolean);
    return checked.flatMap(({ file, errors, warnings }) => {
      const found = (code: Code, { path: field, message }: Remark): Finding =>
        finding(code, file, { message }, 1, field);
      return [
        ...errors.map((remark) => found("claude-error", remark)),
        ...warnings.map((remark) => found("claude-warning", remark)),
      ];
    });
  } catch {
    return undefined;
  }
}
