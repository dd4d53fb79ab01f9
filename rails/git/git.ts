import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { promisify } from "node:util";
import { EXIT, Fault } from "../fault.ts";

export interface GitOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Exit codes besides 0 that are an answer and not a fault. */
  readonly accept?: readonly number[];
}

/** Untrimmed. */
interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What git takes from the environment to look at another repository than the one of `cwd`. */
const REDIRECTS = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_NAMESPACE"];
/** How git says that another process holds the lock that it wants; such a call did nothing and may be made again. */
const LOCKED = /unable to create '.*\.lock'|cannot lock ref|could not lock config|unable to lock/i;
const LOCK_RETRIES = 6;

/** The environment for git and for the project's commands: ours, without what would point git elsewhere. */
export function cleanEnv(extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const env = { ...process.env };
  for (const name of REDIRECTS) delete env[name];
  return { ...env, ...extra };
}

/**
 * The one door to git. Reads take no optional locks; a lock that another process holds is waited for.
 * @returns code, stdout and stderr, untrimmed
 * @throws Fault `git` with git's own words where the code is neither 0 nor accepted; `no-git` where git is missing
 */
export async function git(args: readonly string[], options: GitOptions): Promise<Answer> {
  for (let tries = 0; ; tries++) {
    const answer = await run(args, options);
    if (answer.code === 0 || options.accept?.includes(answer.code)) return answer;
    if (tries < LOCK_RETRIES && LOCKED.test(answer.stderr)) {
      await new Promise((resolve) => setTimeout(resolve, 40 * 2 ** tries * (0.5 + Math.random())));
      continue;
    }
    const words = answer.stderr.trim().split("\n")[0] || `exit ${answer.code}`;
    throw new Fault("git", `git ${args[0]}: ${words}`, `look at it in ${options.cwd}`, EXIT.usage);
  }
}

/** As `git`, but only stdout, without the last line end. */
export const gitText = async (args: readonly string[], options: GitOptions): Promise<string> =>
  (await git(args, options)).stdout.replace(/\n$/, "");

/** True where git answers 0, false where it answers 1. */
export const gitAsks = async (args: readonly string[], options: GitOptions): Promise<boolean> =>
  (await git(args, { ...options, accept: [1] })).code === 0;

async function run(args: readonly string[], { cwd, env }: GitOptions): Promise<Answer> {
  const settings = cleanEnv({ LC_ALL: "C", GIT_TERMINAL_PROMPT: "0", ...env });
  try {
    const all = ["--no-optional-locks", ...args];
    return { code: 0, ...(await promisify(execFile)("git", all, { cwd, env: settings, maxBuffer: 2 ** 30 })) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string };
    if (typeof code === "number") return { code, stdout, stderr };
    const isThere = await stat(cwd).catch(() => null);
    if (!isThere) throw new Fault("not-found", `${cwd} is not there`, "check the path", EXIT.usage);
    throw new Fault(
      "no-git",
      `git could not be run: ${(error as Error).message}`,
      "install git 2.31 or newer",
      EXIT.usage,
    );
  }
}
