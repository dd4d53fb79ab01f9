import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { run } from "./times.mjs";

export const assets = join(dirname(fileURLToPath(import.meta.url)), "../../assets");
const minionFile = join(assets, "bin/minion");

const SLOTS = [
  "What and why",
  "Concerns",
  "Deviations from the task",
  "Findings for others",
  "Risks and how to roll back",
];
export const HANDOFF = SLOTS.map((slot) => `${slot}: x\n`).join("");

/** A repository with a run, not under way yet.
 * @param tasks how many, none of which depends on another
 * @param gate the command of its one gate
 * @param bounds more bounds than that 16 work at once, as lines of YAML */
export async function repository(folder, tasks, gate, bounds = "") {
  const repo = join(folder, "repo");
  const who = ["AUTHOR", "COMMITTER"].flatMap((role) => [
    [`GIT_${role}_NAME`, "bench"],
    [`GIT_${role}_EMAIL`, "bench@example.com"],
  ]);
  // A place of its own for what is temporary: no gate of another run on this machine is waited for.
  const own = { HOME: folder, TMPDIR: folder, CLAUDE_CODE_SESSION_ID: "bench", MINION_SLOT: "" };
  const all = { ...process.env, ...Object.fromEntries(who), ...own };
  const git = (args, { cwd = repo } = {}) => run("git", args, { cwd, env: all });
  const minion = (args, { cwd = repo, input = "", env = {} } = {}) =>
    run(execPath, [minionFile, ...args], { cwd, input, env: { ...all, ...env } });
  await mkdir(join(repo, ".claude/minion"), { recursive: true });
  const blueprint =
    `---\nbounds:\n  workers: 16\n${bounds}` + `gates:\n  - name: test\n    run: '${gate}'\n---\n`;
  await writeFile(join(repo, ".claude/minion/blueprint.md"), blueprint);
  await git(["init", "--quiet"]);
  await git(["add", "."]);
  await git(["commit", "--quiet", "-m", "chore: start"]);
  const list = Array.from({ length: tasks }, (_, index) => `${index + 1}. Task\n`).join("");
  await minion(["start", "-"], { input: list });
  return { repo, git, minion };
}
