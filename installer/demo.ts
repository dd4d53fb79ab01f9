import { existsSync, mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { runDemo } from "../demo/demo.ts";
import { makeSample, readEdits } from "../demo/sample-repo.ts";
import { git } from "../rails/git/git.ts";
import { EXIT, Fault } from "../rails/program/fault.ts";
import type { Said } from "../rails/program/verb.ts";
import { enough, NEEDED } from "../rails/program/versions.ts";
import { change } from "./change.ts";
import { findClaude, versionOf } from "./claude.ts";
import { here, type Surroundings } from "./paths.ts";

/** The whole road in the real client, without an account.
 * @param assets the package's
 * @param own a repository to run on a clone of, its task list, and a folder with edits.json; empty
 *   for the sample
 * @param dir a new folder for all of it
 * @throws Fault `usage`, `exists`, `no-claude`, and `not-landed` where a task did not land */
export async function demo(
  assets: string,
  own: readonly string[],
  dir: string | undefined,
): Promise<Said> {
  const [source, list, edits] = own;
  if (own.length !== 0 && own.length !== 3) {
    const what = "a repository wants a task list and edits too";
    throw new Fault("usage", what, "demo REPOSITORY TASKS EDITS", EXIT.usage);
  }
  if (dir !== undefined && existsSync(dir))
    throw new Fault("exists", `${dir} is there already`, "name a new folder", EXIT.usage);
  const at = here();
  const { claude, version } = await newEnough(at);
  const folder = dir === undefined ? newFolder() : resolve(dir);
  const home = join(folder, "home");
  const repo = join(folder, "repository");
  await change("install", { dir: join(home, ".claude") }, { assets, at });
  const root = join(assets, "../dist/demo");
  if (source === undefined) await makeSample(root, repo);
  else await git(folder, "clone", "--quiet", "--no-hardlinks", "--", resolve(source), repo);
  const typed = () => readFileSync(join(root, "tasks-typed.txt"), "utf8").trim();
  const prompt = `/minion ${list === undefined ? typed() : resolve(list)}`;
  const say = (line: string): boolean => process.stdout.write(`${line}\n`);
  say(`Claude Code ${version}, a scripted model in the model's place, all of it in ${folder}\n`);
  const script = await readEdits(edits ?? join(root, "edits"));
  const isLanded = await runDemo({ claude, home, repo, prompt, edits: script, say });
  if (!isLanded)
    throw new Fault("not-landed", "not every task landed", `see the report above, and ${repo}`);
  const gates = source === undefined ? " && npm ci && npm run lint && npm test" : "";
  return {
    text: `See for yourself:\n  cd ${repo} && git switch minion/r1/line${gates}`,
    data: { repository: repo },
  };
}

const newFolder = (): string => mkdtempSync(join(realpathSync(tmpdir()), "minion-demo-"));

/** The client, where it is one that this can drive. */
async function newEnough(at: Surroundings): Promise<{ claude: string; version: string }> {
  const claude = findClaude(at);
  const version = claude && (await versionOf(claude, at));
  if (claude && version && enough(version, NEEDED.claude)) return { claude, version };
  const found = claude
    ? `${claude} is ${version ?? "of a version that it does not tell"}`
    : "claude is not on PATH";
  const hint = `this drives Claude Code ${NEEDED.claude} or newer: install it`;
  throw new Fault("no-claude", found, hint, EXIT.usage);
}
