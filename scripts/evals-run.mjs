// One whole run of two tasks by a real model, outside of `claude plugin eval`, which lets no worker
// have a worktree: npm run evals:run -- [options of claude, such as --model sonnet]. Passes if both
// tasks landed and the checkout is as it was.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const repo = mkdtempSync(join(tmpdir(), "minion-evals-"));
const run = (command, ...args) => execFileSync(command, args, { cwd: repo, encoding: "utf8" });
const minion = (...args) => run(join(root, "assets/bin/minion"), ...args);

run("sh", join(root, "evals/sends-two-workers/scaffold.sh"));
const before = run("git", "rev-parse", "HEAD");
const asked = [
  "-p",
  "/minion:minion tasks.md",
  "--plugin-dir",
  join(root, "assets"),
  ...process.argv.slice(2),
];
const { status } = spawnSync(join(root, "node_modules/.bin/claude"), asked, {
  cwd: repo,
  stdio: ["ignore", "inherit", "inherit"],
});
// It has said why: no key, no such model.
if (status !== 0) process.exit(status ?? 1);

const { tasks } = JSON.parse(minion("board", "--json"));
const landed = tasks.filter(({ state }) => state === "landed");
const isKept =
  run("git", "rev-parse", "HEAD") === before &&
  run("git", "status", "--short", "src", "test") === "";
console.log(
  `\n${minion("report")}\n${landed.length} of ${tasks.length} landed, the checkout is ${isKept ? "as it was" : "CHANGED"}: ${repo}`,
);
process.exitCode = landed.length === 2 && isKept ? 0 : 1;
