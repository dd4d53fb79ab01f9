import { execFile } from "node:child_process";
import { cp, readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Guess } from "./orchestrator-script.ts";
import type { ScriptedTask, Step } from "./worker-script.ts";

const run = promisify(execFile);

/** The demo's commits are nobody's: no configuration of the person is read for them or written. */
const IDENTITY = ["-c", "user.name=Minion demo", "-c", "user.email=demo@example.invalid"];

/**
 * Makes the sample's repository, with one commit on `main`.
 * @param root the demo's folder, as `scripts/build-demo.mjs` lays it out
 * @param folder where the repository is to be; made if it is not there
 */
export async function makeSample(root: string, folder: string): Promise<void> {
  await cp(join(root, "sample"), folder, { recursive: true });
  // Packing leaves out files of these names, so they travel under others.
  for (const name of await readdir(folder))
    if (name.startsWith("_")) await rename(join(folder, name), join(folder, `.${name.slice(1)}`));
  const git = (...args: string[]) => run("git", args, { cwd: folder });
  await git("init", "--quiet", "--initial-branch=main");
  await git("add", "--all");
  await git(
    ...IDENTITY,
    "commit",
    "--quiet",
    "--no-gpg-sign",
    "--message",
    "feat: serve health and keep events in memory",
  );
}

/** How a task is done, as `edits.json` says it. `copy` takes a file from the folder named after the
 * task's id. */
type Recipe = Omit<ScriptedTask, "steps"> &
  Guess & { readonly steps: readonly (Step | { readonly copy: string })[] };

/** How each task is done, and what the orchestrator makes of it when it is typed. */
export interface Edits {
  readonly tasks: Readonly<Record<string, ScriptedTask>>;
  readonly guesses: Readonly<Record<string, Guess>>;
}

/** Reads scripted edits: a folder with `edits.json` and, for each task, a folder of the files that
 * it writes.
 * @param folder `edits` in the demo's folder, or one for another repository */
export async function readEdits(folder: string): Promise<Edits> {
  const text = await readFile(join(folder, "edits.json"), "utf8");
  const recipes = JSON.parse(text) as Record<string, Recipe>;
  const tasks: Record<string, ScriptedTask> = {};
  for (const [id, { steps, commit, handoff }] of Object.entries(recipes)) {
    const written = steps.map(async (step): Promise<Step> => {
      if (!("copy" in step)) return step;
      return { write: step.copy, content: await readFile(join(folder, id, step.copy), "utf8") };
    });
    tasks[id] = { commit, handoff, steps: await Promise.all(written) };
  }
  return { tasks, guesses: recipes };
}
