import { spawn } from "node:child_process";
import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { EXIT } from "../fault.ts";
import { cleanEnv } from "../git/git.ts";
import { treeOf } from "../git/repository.ts";
import type { Command, Evidence, Prover } from "./events.ts";
import { setupKey } from "./evidence.ts";
import type { Journal } from "./journal.ts";

/** A worktree in which commands are run. */
export interface Bench {
  readonly top: string;
  readonly gitDir: string;
}

/** Runs a gate on the files as they lie there and gives back what it leaves; the caller writes it down. */
export async function prove(
  journal: Journal,
  gate: Command,
  bench: Bench,
  by: Prover,
  attempts: readonly string[],
  setup: Command | null,
): Promise<Evidence> {
  const tree = await treeOf(bench.top, bench.gitDir);
  const ran = await runCommand(journal, gate, bench.top, by === "landing" ? by : (attempts[0] ?? by));
  const treeAfter = await treeOf(bench.top, bench.gitDir);
  const { name, run: command, cwd } = gate;
  return { gate: name, by, attempts, tree, treeAfter, command, cwd, setup: setupKey(setup), ...ran };
}

/**
 * Runs a command of the project to its end, its output going straight to a file.
 * Past its limit, and when it leaves processes behind, its whole process group is ended.
 * @param label what to name the file after
 */
export async function runCommand(
  journal: Journal,
  command: Command,
  top: string,
  label: string,
): Promise<Pick<Evidence, "code" | "timedOut" | "ms" | "output">> {
  await mkdir(join(journal.folder, "output"), { recursive: true });
  const stamp = Date.now().toString(36);
  const output = join("output", `${label.replace(/^.*\//, "")}-${command.name}-${stamp}.log`);
  const file = await open(join(journal.folder, output), "wx");
  try {
    const before = performance.now();
    const child = spawn(command.run, {
      cwd: join(top, command.cwd),
      env: cleanEnv(),
      shell: true,
      detached: true,
      stdio: ["ignore", file.fd, file.fd],
    });
    if (child.pid !== undefined) groups.add(child.pid);
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      endGroup(child.pid);
    }, command.timeout * 1000);
    const code = await new Promise<number | null>((resolve) => {
      child.on("error", () => resolve(127));
      child.on("exit", (status) => resolve(status));
    });
    clearTimeout(timer);
    endGroup(child.pid);
    return { code: timedOut ? null : code, timedOut, ms: Math.round(performance.now() - before), output };
  } finally {
    await file.close();
  }
}

/** Commands that run now, by process group. A job that is told to end takes them along. */
const groups = new Set<number>();
process.once("SIGTERM", () => {
  for (const pid of groups) endGroup(pid);
  process.exit(EXIT.interrupted);
});

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  groups.delete(pid);
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nobody is left in it.
  }
}
