import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { EXIT, Fault } from "../program/fault.ts";
import { outside } from "../program/world.ts";

/** Where and how git is called: a folder, or that with more. */
export type Where =
  | string
  | {
      cwd: string;
      env?: NodeJS.ProcessEnv;
      accept?: number[]; // Codes that are no fault
      input?: string; // What it gets on its standard input
    };

/** What git takes from the environment to look at another repository than the one of `cwd`. */
const REDIRECTS = [
  "DIR",
  "WORK_TREE",
  "INDEX_FILE",
  "COMMON_DIR",
  "PREFIX",
  "NAMESPACE",
  "OBJECT_DIRECTORY",
];
/** How git says that another process holds the lock that it wants; such a call did nothing and may
 * be made again. */
const LOCKED = /unable to create '.*\.lock'|cannot lock ref|could not lock config|unable to lock/i;
const LOCK_RETRIES = 6;
/** How a shell says that the program of a filter (git-lfs, say) is not installed. */
const MISSING = /: ([^\s:]+): (?:command )?not found$/m;

/** For the rails' own git calls: the project's hooks may ask somebody who is not there, or change
 * what they prove. */
export const NO_HOOKS = ["-c", "core.hooksPath=/dev/null"];
/** For merges of ours: no setting of the person's makes something else of them, and what is ignored
 * is not overwritten (where the merge is a step forward; git looks in no other). */
export const PLAIN_MERGE = [
  "--commit",
  "--no-squash",
  "--no-verify-signatures",
  "--no-autostash",
  "--no-overwrite-ignore",
];
/** With every call: nothing is printed that was not asked for, and no upkeep or memory of conflicts
 * is written. */
const ALWAYS = ["log.showSignature=false", "rerere.enabled=false", "gc.auto=0"].flatMap((set) => [
  "-c",
  set,
]);

/** The environment for git and for the project's commands: ours, without what would point git
 * elsewhere. */
export function cleanEnv(extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const env = { ...outside().env };
  for (const name of REDIRECTS) delete env[`GIT_${name}`];
  return { ...env, ...extra };
}

/** The one door to git. Reads take no optional locks; a lock that another process holds is waited
 * for.
 * @returns its code and what it printed, untrimmed
 * @throws Fault `git` with git's own words where the code is neither 0 nor accepted; `no-filter`
 *   where the program of one is missing; `no-git` where it could not run */
export async function git(
  where: Where,
  ...args: readonly string[]
): Promise<{ code: number; stdout: string }> {
  const {
    cwd,
    env = {},
    accept = [],
    input = "",
  } = typeof where === "string" ? { cwd: where } : where;
  const settings = cleanEnv({ LC_ALL: "C", GIT_TERMINAL_PROMPT: "0", ...env });
  for (let tries = 0; ; tries++)
    try {
      const all = ["--no-optional-locks", ...ALWAYS, ...args];
      const running = promisify(execFile)("git", all, { cwd, env: settings, maxBuffer: 2 ** 30 });
      // It may end before it has read everything.
      running.child.stdin?.on("error", () => {}).end(input);
      return { code: 0, ...(await running) };
    } catch (error) {
      const { code, stdout, stderr, message } = error as Error & {
        code: unknown;
        stdout: string;
        stderr: string;
      };
      if (typeof code !== "number")
        throw new Fault("no-git", `git in ${cwd}: ${message}`, "is it there?", EXIT.usage);
      if (accept.includes(code)) return { code, stdout };
      if (tries === LOCK_RETRIES || !LOCKED.test(stderr)) {
        const [, program] = MISSING.exec(stderr) ?? [];
        const way = `install ${program}`;
        if (program)
          throw new Fault(
            "no-filter",
            `files here need ${program}, which is missing`,
            way,
            EXIT.usage,
          );
        const words =
          /^(?:fatal|error): .*/m.exec(stderr)?.[0] ||
          stderr.trim().split("\n")[0] ||
          `exit ${code}`;
        throw new Fault("git", `git ${args[0]}: ${words}`, `look at it in ${cwd}`, EXIT.usage);
      }
      await new Promise((resolve) => setTimeout(resolve, 40 * 2 ** tries * (0.5 + Math.random())));
    }
}

/** As `git`, but only what it printed, without the last line end. */
export const gitText = async (where: Where, ...args: readonly string[]): Promise<string> =>
  (await git(where, ...args)).stdout.replace(/\n$/, "");

/** As `git`, for a list of names that are parted by NUL. */
export const gitList = async (where: Where, ...args: readonly string[]): Promise<string[]> =>
  (await git(where, ...args)).stdout.split("\0").filter(Boolean);
