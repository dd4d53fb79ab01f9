import { lstatSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, dirname, isAbsolute, join, parse, resolve } from "node:path";
import { EXIT, Fault } from "../rails/program/fault.ts";

/** What of the surroundings the installer looks at; tests hand in their own. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly home: string;
}

export interface RootFlags {
  readonly dir?: string;
  readonly scope?: "user" | "project";
}

/** Where an installation lives. `target` is the path as people write it, `real` where its bytes
 * are. */
export interface Root {
  readonly root: string;
  /** Why this root, in words. */
  readonly why: string;
  /** CLAUDE_CONFIG_DIR where Claude Code, which takes it literally, looks elsewhere. */
  readonly literal?: string | undefined;
  readonly target: string;
  readonly real: string;
}

export const here = (): Surroundings => ({ env: process.env, cwd: process.cwd(), home: homedir() });

/** The folder to install into: `--dir`, else `<repository>/.claude` with `--scope project`, else
 * CLAUDE_CONFIG_DIR, else `~/.claude`. Links on the way are followed, so that what is written lands
 * in the real folder and the link stays.
 * @throws Fault `usage` where flags contradict, `dangling-link` where a link on the way leads
 *   nowhere */
export function findRoot({ dir, scope }: RootFlags, { env, cwd, home }: Surroundings): Root {
  const place = (path: string, why: string, literal?: string): Root => {
    const isBelowHome = path === "~" || /^~[/\\]/.test(path);
    if (isBelowHome && !isAbsolute(home)) throw homeless(home);
    const root = resolve(cwd, isBelowHome ? join(home, path.slice(1)) : path);
    const target = join(root, "skills", "minion");
    return { root, why, literal, target, real: realOf(target) };
  };
  const wrong = (what: string): Fault =>
    new Fault("usage", what, "give the one folder that Claude Code reads", EXIT.usage);
  if (dir !== undefined) {
    if (scope !== undefined) throw wrong(`--dir and --scope ${scope} name two folders`);
    if (dir.trim() === "") throw wrong("--dir is empty");
    return place(dir, "--dir");
  }
  if (scope === "project") return place(join(repositoryOf(cwd), ".claude"), "--scope project");
  const set = env.CLAUDE_CONFIG_DIR;
  if (!set?.trim()) return place(join("~", ".claude"), "the default", set);
  return place(set, "CLAUDE_CONFIG_DIR", set.startsWith("~") ? set : undefined);
}

const homeless = (home: string): Fault =>
  new Fault(
    "no-home",
    home === "" ? "HOME is empty" : `HOME is no full path: ${home}`,
    "set it to your home folder, or give --dir",
    EXIT.usage,
  );

/** Where a path's bytes are, also where its end does not exist yet. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const isMissing = code === "ENOENT" && !lstatSync(path, { throwIfNoEntry: false });
    if (isMissing && path !== parse(path).root) return join(realOf(dirname(path)), basename(path));
    const isDangling = code === "ENOENT" || code === "ELOOP";
    const what = isDangling ? "is a link that leads nowhere" : `cannot be read (${code})`;
    throw new Fault("dangling-link", `${path} ${what}`, "repair or remove it, then call again");
  }
}

/** The folder above `from` that holds `.git`, else `from` itself. */
export function repositoryOf(from: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    if (lstatSync(join(folder, ".git"), { throwIfNoEntry: false })) return folder;
    if (folder === dirname(folder)) return from;
  }
}

/** Every file called `name` on PATH, in the order in which a shell would find them. */
export function onPath(name: string, env: NodeJS.ProcessEnv): string[] {
  const endings =
    process.platform === "win32" ? (env.PATHEXT ?? ".EXE;.CMD").toLowerCase().split(";") : [""];
  const folders = (env.PATH ?? "").split(delimiter).filter(Boolean);
  const files = folders.flatMap((folder) => endings.map((ending) => join(folder, name + ending)));
  return files.filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
}
