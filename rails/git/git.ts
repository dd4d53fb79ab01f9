import { spawn } from "node:child_process";
import { EXIT, Fault } from "../fault.ts";

export interface GitOptions {
  readonly cwd: string;
  readonly input?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Exit codes besides 0 that are an answer and not a fault. */
  readonly accept?: readonly number[];
}

export interface GitAnswer {
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
export async function git(args: readonly string[], options: GitOptions): Promise<GitAnswer> {
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
export async function gitText(args: readonly string[], options: GitOptions): Promise<string> {
  return (await git(args, options)).stdout.replace(/\n$/, "");
}

/** True where git answers 0, false where it answers 1. */
export async function gitAsks(args: readonly string[], options: GitOptions): Promise<boolean> {
  return (await git(args, { ...options, accept: [1] })).code === 0;
}

function run(args: readonly string[], { cwd, input, env }: GitOptions): Promise<GitAnswer> {
  return new Promise((resolve, reject) => {
    const child = spawn("git", ["--no-optional-locks", ...args], {
      cwd,
      env: cleanEnv({ LC_ALL: "C", GIT_TERMINAL_PROMPT: "0", ...env }),
      stdio: ["pipe", "pipe", "pipe"],
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on("data", (chunk) => out.push(chunk));
    child.stderr.on("data", (chunk) => err.push(chunk));
    child.on("error", (error: NodeJS.ErrnoException) => {
      const missing = error.code === "ENOENT" && error.path === "git";
      reject(
        missing ? new Fault("no-git", "git could not be started", "install git 2.31 or newer", EXIT.usage) : error,
      );
    });
    child.on("close", (code) =>
      resolve({
        code: code ?? 1,
        stdout: Buffer.concat(out).toString(),
        stderr: Buffer.concat(err).toString(),
      }),
    );
    child.stdin.on("error", () => {}); // git may end before it has read all: its exit code says why
    child.stdin.end(input ?? "");
  });
}
