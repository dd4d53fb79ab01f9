import { type ChildProcess, spawn } from "node:child_process";
import { open } from "node:fs/promises";
import type { Blueprint } from "../blueprint/blueprint.ts";
import { cleanEnv } from "../git/git.ts";
import { EXIT } from "../program/fault.ts";
import { keep, secretsIn } from "./output.ts";

/** What a shell ends with where it cannot run a command, and where a signal ended one. */
const NOT_RUN = 127;
const SIGNALLED = 128;

/** How long output may still come from what a command left behind outside of its process group. */
const LAST_WORDS_MS = 2000;

/** Runs a command in a shell and keeps what it prints, without secrets, in a new file. Whatever way
 * it ends, nothing of its process group is left running.
 * @param timeout in seconds
 * @param path of the file
 * @param rules which variables are secret, and how much is kept
 * @param own what it finds in its environment besides
 * @returns its exit code, null where it ran out of time */
export async function execute(
  run: string,
  cwd: string,
  timeout: number,
  path: string,
  rules: Blueprint["output"],
  own: NodeJS.ProcessEnv,
): Promise<number | null> {
  const file = await open(path, "wx");
  const env = cleanEnv(own);
  // Both streams into one, so that lines stand in the order in which they were written.
  const child = spawn(`exec 2>&1\n${run}`, {
    cwd,
    env,
    shell: true,
    detached: true, // A process group of its own
    stdio: ["ignore", "pipe", "ignore"],
  });
  if (child.pid) groups.add(child.pid);
  const secrets = secretsIn(env, rules.secret);
  const limit = rules.megabytes * 2 ** 20;
  const kept = keep(child.stdout, file, limit, secrets).catch(() => {});
  const code = await endOf(child, timeout);
  if (child.pid) endGroup(child.pid);
  setTimeout(() => child.stdout.destroy(), LAST_WORDS_MS).unref();
  await kept;
  await file.close();
  return code;
}

/** @returns the exit code of a child, null where it still runs after so many seconds */
const endOf = (child: ChildProcess, timeout: number): Promise<number | null> =>
  new Promise((resolve) => {
    setTimeout(resolve, timeout * 1000, null).unref();
    child.on("error", () => resolve(NOT_RUN));
    child.on("exit", (code) => resolve(code ?? SIGNALLED));
  });

/** The process groups of the commands that run now: a job that is told to end takes them along. */
const groups = new Set<number>();
process.once("SIGTERM", () => {
  for (const group of groups) endGroup(group);
  process.exit(EXIT.interrupted);
});

function endGroup(group: number): void {
  groups.delete(group);
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // Nobody is left in it.
  }
}
