// Runs evals/ against the plugin, by `claude plugin eval` of the pinned client: npm run evals --
// [its options]
import { spawnSync } from "node:child_process";
import { mkdirSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
// On Linux the client's sandbox lets nothing be written below /tmp, where each case would have its
// repository.
const temp = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "minion-evals");
mkdirSync(temp, { recursive: true });
const env = {
  ...process.env,
  TMPDIR: realpathSync(temp),
  // A shell in that sandbox does not find the plugin's programs by itself.
  PATH: [process.env.PATH, join(root, "assets/bin")].join(delimiter),
};
const GRANTED = ["--trust-plugin", "--scaffold", "--allow-tools", "Bash", "Write", "Edit"];
// What is said after it wins.
const USUAL = ["--no-publish", "--ablation", "none"];
const claude = join(root, "node_modules/.bin/claude");
const { status } = spawnSync(
  claude,
  ["plugin", "eval", ".", ...GRANTED, ...USUAL, ...process.argv.slice(2)],
  {
    cwd: root,
    env,
    stdio: "inherit",
  },
);
process.exitCode = status ?? 1;
