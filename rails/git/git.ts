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

/** What git takes from the environment to look at another repository, index or configuration than
 * those of `cwd`: what `git rev-parse --local-env-vars` names, of all versions. */
const LOCAL = [
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_COMMON_DIR",
  "GIT_CONFIG",
  "GIT_CONFIG_COUNT",
  "GIT_CONFIG_PARAMETERS",
  "GIT_DIR",
  "GIT_GRAFT_FILE",
  "GIT_IMPLICIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_INTERNAL_SUPER_PREFIX",
  "GIT_NAMESPACE",
  "GIT_NO_REPLACE_OBJECTS",
  "GIT_OBJECT_DIRECTORY",
  "GIT_PREFIX",
  "GIT_QUARANTINE_PATH",
  "GIT_REPLACE_REF_BASE",
  "GIT_SHALLOW_FILE",
  "GIT_WORK_TREE",
];
/** What of the environment changes how git reads what it is asked, or what it prints. */
const BENDING = [
  "GIT_ATTR_SOURCE",
  "GIT_DIFF_OPTS",
  "GIT_EXTERNAL_DIFF",
  "GIT_GLOB_PATHSPECS",
  "GIT_ICASE_PATHSPECS",
  "GIT_LITERAL_PATHSPECS",
  "GIT_NOGLOB_PATHSPECS",
];
/** How git says that another process holds the lock that it wants; such a call did nothing and may
 * be made again. */
const LOCKED = /unable to create '.*\.lock'|cannot lock ref|could not lock config|unable to lock/i;
const LOCK_RETRIES = 6;
/** How a shell says that the program of a filter (git-lfs, say) is not installed. */
const MISSING = /: ([^\s:]+): (?:command )?not found$/m;
/** Longer no call takes that is well: what reads, and what lays files or talks to another
 * repository, which may be large. */
const READ_MS = 10 * 60_000;
const WRITE_MS = 60 * 60_000;
const WRITES = /^(checkout|cherry-pick|clean|clone|fetch|merge|reset|switch|worktree)$/;

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
/** With every call: no upkeep or memory of conflicts is written, and no setting of the person's
 * changes what is printed, or what a pick or a merge makes. */
const ALWAYS = [
  "gc.auto=0",
  "maintenance.auto=false",
  "rerere.enabled=false",
  "color.ui=false",
  "color.diff=false",
  "color.status=false",
  "color.branch=false",
  "commit.cleanup=default",
  "core.fsmonitor=false",
  "core.commentChar=#",
  "diff.mnemonicPrefix=false",
  "diff.noprefix=false",
  "i18n.logOutputEncoding=UTF-8",
  "log.showSignature=false",
  "merge.conflictStyle=merge",
  "merge.renames=true",
  "submodule.recurse=false",
].flatMap((setting) => ["-c", setting]);

/** The environment for git and for the project's commands: ours, without what would point git
 * elsewhere. */
export function cleanEnv(extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const env = { ...outside().env };
  for (const name of LOCAL) delete env[name];
  return { ...env, ...extra };
}

/** The environment of the rails' own calls: nobody is asked, nothing bends what is read. */
function ownEnv(extra: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const env = cleanEnv({
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_EDITOR: "true",
    // A commit is what a clone gets of it, and not what stands in its place here.
    GIT_NO_REPLACE_OBJECTS: "1",
  });
  for (const name of BENDING) delete env[name];
  return { ...env, ...extra };
}

/** What a call of git comes to: its code, and what it printed, untrimmed. */
export type Answer = Readonly<{ code: number; stdout: string; stderr: string }>;

type Failed = Error & { code?: unknown; killed?: boolean; stdout: string; stderr: string };

/** The one door to git, which no setting and no environment of the person's bends. Reads take no
 * optional locks; a lock that another process holds is waited for.
 * @throws Fault `git` with git's own words where the code is neither 0 nor accepted; `no-filter`
 *   where the program of one is missing; `git-timeout` where it does not end; `no-git` where it
 *   could not run */
export async function git(where: Where, ...args: readonly string[]): Promise<Answer> {
  const at = typeof where === "string" ? { cwd: where } : where;
  for (let tries = 0; ; tries++) {
    const answer = await call(at, args);
    if (answer.code === 0 || at.accept?.includes(answer.code)) return answer;
    if (tries === LOCK_RETRIES || !LOCKED.test(answer.stderr)) throw faultOf(answer, at.cwd, args);
    await new Promise((resolve) => setTimeout(resolve, 40 * 2 ** tries * (0.5 + Math.random())));
  }
}

async function call(
  { cwd, env = {}, input = "" }: Exclude<Where, string>,
  args: readonly string[],
): Promise<Answer> {
  const timeout = WRITES.test(commandOf(args)) ? WRITE_MS : READ_MS;
  const options = { cwd, env: ownEnv(env), maxBuffer: 2 ** 30, timeout };
  try {
    const running = promisify(execFile)(
      "git",
      ["--no-optional-locks", ...ALWAYS, ...args],
      options,
    );
    // It may end before it has read everything.
    running.child.stdin?.on("error", () => {}).end(input);
    return { code: 0, ...(await running) };
  } catch (error) {
    const { code, killed, message, stdout, stderr } = error as Failed;
    if (killed)
      throw new Fault(
        "git-timeout",
        `git ${args.join(" ")} did not end within ${timeout / 60_000} minutes in ${cwd}`,
        "see what it waits for there (a filter, a network drive, a lock), then call again",
        EXIT.usage,
      );
    if (typeof code === "number") return { code, stdout, stderr };
    throw new Fault("no-git", `git in ${cwd}: ${message}`, "is it there?", EXIT.usage);
  }
}

/** Git's own command in a call, behind the options that stand before it. */
const commandOf = (args: readonly string[]): string =>
  args.find((word, at) => !word.startsWith("-") && args[at - 1] !== "-c") ?? "";

/** What a call that failed says, in git's own words. */
function faultOf({ code, stderr }: Answer, cwd: string, args: readonly string[]): Fault {
  const [, program] = MISSING.exec(stderr) ?? [];
  if (program) {
    const what = `files here need ${program}, which is missing`;
    return new Fault("no-filter", what, `install ${program}`, EXIT.usage);
  }
  const what = `git ${commandOf(args)}: ${wordsOf(stderr) || `exit ${code}`}`;
  return new Fault("git", what, `look at it in ${cwd}`, EXIT.usage);
}

/** The line in which git says what is wrong, or its first one. */
export const wordsOf = (stderr: string): string =>
  /^(?:fatal|error): .*/m.exec(stderr)?.[0] || (stderr.trim().split("\n")[0] ?? "");

/** As `git`, but only what it printed, without the last line end. */
export const gitText = async (where: Where, ...args: readonly string[]): Promise<string> =>
  (await git(where, ...args)).stdout.replace(/\n$/, "");

/** As `git`, for a list of names that are parted by NUL. */
export const gitList = async (where: Where, ...args: readonly string[]): Promise<string[]> =>
  (await git(where, ...args)).stdout.split("\0").filter(Boolean);
