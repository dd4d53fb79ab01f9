import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { EXIT, Fault } from "../program/fault.ts";
import { outside } from "../program/world.ts";

const run = promisify(execFile);

/** Where and how git is called: a folder, or that with more. */
export type Where =
  | string
  | {
      cwd: string;
      env?: NodeJS.ProcessEnv;
      accept?: number[]; // Codes that are no fault
    };

/** What git takes from the environment to look at another repository than the one of `cwd`. */
const REDIRECTS = [
  "GIT_DIR",
  "GIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_COMMON_DIR",
  "GIT_PREFIX",
  "GIT_NAMESPACE",
  "GIT_OBJECT_DIRECTORY",
];

/** For the rails' own git calls: the project's hooks may ask somebody who is not there, or change
 * what they prove. */
export const NO_HOOKS = ["-c", "core.hooksPath=/dev/null"];

/** With every call: reads take no optional locks, nothing is printed that was not asked for, and no
 * upkeep or memory of conflicts is written. */
const ALWAYS = [
  "--no-optional-locks",
  "-c",
  "log.showSignature=false",
  "-c",
  "rerere.enabled=false",
  "-c",
  "gc.auto=0",
];

/** In the environment of every call: git speaks English, which is read here, and asks nobody. */
const SPEECH = { LC_ALL: "C", GIT_TERMINAL_PROMPT: "0" };

/** So much may one call print, in bytes. */
const OUTPUT_LIMIT = 2 ** 30;

/** The environment for git and for the project's commands: ours, without what would point git
 * elsewhere. */
export function cleanEnv(extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const env = { ...outside().env };
  for (const name of REDIRECTS) delete env[name];
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
  const { cwd, env = {}, accept = [] } = typeof where === "string" ? { cwd: where } : where;
  const how = { cwd, env: cleanEnv({ ...SPEECH, ...env }), maxBuffer: OUTPUT_LIMIT };
  for (let tries = 0; ; tries++) {
    try {
      const { stdout } = await run("git", [...ALWAYS, ...args], how);
      return { code: 0, stdout };
    } catch (error) {
      const { code, stdout, stderr, message } = error as Failure;
      if (typeof code !== "number")
        throw new Fault("no-git", `git in ${cwd}: ${message}`, "is it there?", EXIT.usage);
      if (accept.includes(code)) return { code, stdout };
      if (tries === LOCK_RETRIES || !LOCKED.test(stderr)) throw faultOf(stderr, code, args[0], cwd);
    }
    await waitForLock(tries);
  }
}

/** How `execFile` says that a program failed: `code` is a number where it ran and ended with that,
 * else the name of what kept it from running. */
type Failure = Error & { code: unknown; stdout: string; stderr: string };

/** How git says that another process holds the lock that it wants; such a call did nothing and may
 * be made again. */
const LOCKED = /unable to create '.*\.lock'|cannot lock ref|could not lock config|unable to lock/i;
const LOCK_RETRIES = 6;
const LOCK_WAIT_MS = 40;

/** Waits for about twice as long each time; not all for as long, or they would meet again. */
const waitForLock = (tries: number): Promise<void> =>
  sleep(LOCK_WAIT_MS * 2 ** tries * (0.5 + Math.random()));

/** How a shell says that the program of a filter (git-lfs, say) is not installed. */
const MISSING = /: ([^\s:]+): (?:command )?not found$/m;

/** What git's own words say, or those of a filter that it ran.
 * @param verb what git was to do */
function faultOf(stderr: string, code: number, verb: string | undefined, cwd: string): Fault {
  const program = MISSING.exec(stderr)?.[1];
  if (program) {
    const what = `files here need ${program}, which is missing`;
    return new Fault("no-filter", what, `install ${program}`, EXIT.usage);
  }
  const complaint = /^(?:fatal|error): .*/m.exec(stderr)?.[0];
  const words = complaint || stderr.trim().split("\n")[0] || `exit ${code}`;
  return new Fault("git", `git ${verb}: ${words}`, `look at it in ${cwd}`, EXIT.usage);
}

/** As `git`, but only what it printed, without the last line end. */
export const gitText = async (where: Where, ...args: readonly string[]): Promise<string> =>
  (await git(where, ...args)).stdout.replace(/\n$/, "");

/** As `git`, for a list of names that are parted by NUL. */
export const gitList = async (where: Where, ...args: readonly string[]): Promise<string[]> =>
  (await git(where, ...args)).stdout.split("\0").filter(Boolean);
