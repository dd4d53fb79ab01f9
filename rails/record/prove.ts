import { spawn } from "node:child_process";
import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { EXIT } from "../fault.ts";
import { cleanEnv } from "../git/git.ts";
import { treeOf } from "../git/repository.ts";
import type { Command, Evidence } from "./events.ts";
import { setupKey } from "./evidence.ts";
import type { Journal } from "./journal.ts";

/**
 * Runs a command on the files as they lie in a worktree, to its end or its limit, and gives back what it leaves;
 * the caller writes that down. The output goes straight to a file of the run's folder.
 * @param setup what the worktree was set up with
 */
export async function prove(
  journal: Journal,
  { name, run, cwd, timeout }: Command,
  worktree: { readonly top: string; readonly gitDir: string },
  by: Evidence["by"],
  attempts: readonly string[],
  setup: Command | null,
): Promise<Evidence> {
  await mkdir(join(journal.folder, "output"), { recursive: true });
  const label = by === "landing" ? by : attempts[0]?.replace(/^.*\//, "");
  const output = join("output", `${label}-${name}-${Date.now().toString(36)}.log`);
  const tree = await treeOf(worktree.top, worktree.gitDir);
  const file = await open(join(journal.folder, output), "wx");
  const before = performance.now();
  const code = await execute(run, join(worktree.top, cwd), timeout, file.fd).finally(() => file.close());
  const ms = Math.round(performance.now() - before);
  const treeAfter = await treeOf(worktree.top, worktree.gitDir);
  return { gate: name, by, attempts, tree, treeAfter, command: run, cwd, setup: setupKey(setup), code, ms, output };
}

/** Commands that run now, by process group: a job that is told to end takes them along. */
const groups = new Set<number>();
process.once("SIGTERM", () => {
  for (const pid of groups) endGroup(pid);
  process.exit(EXIT.interrupted);
});

/** Whatever way it ends, nothing of its process group is left running. */
function execute(run: string, cwd: string, timeout: number, output: number): Promise<number | null> {
  const child = spawn(run, { cwd, env: cleanEnv(), shell: true, detached: true, stdio: ["ignore", output, output] });
  const pid = child.pid ?? 0;
  groups.add(pid);
  return new Promise((resolve) => {
    const end = (code: number | null): void => {
      clearTimeout(timer);
      endGroup(pid);
      resolve(code);
    };
    const timer = setTimeout(end, timeout * 1000, null);
    child.on("error", () => end(127));
    child.on("exit", (code) => end(code ?? 128));
  });
}

function endGroup(pid: number): void {
  groups.delete(pid);
  try {
    if (pid > 0) process.kill(-pid, "SIGKILL");
  } catch {
    // Nobody is left in it.
  }
}
