import { existsSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { runDemo } from "../demo/demo.ts";
import { EXIT, Fault } from "../rails/fault.ts";
import { change } from "./change.ts";
import { CLAUDE_NEEDED, enough, findClaude, versionOf } from "./claude.ts";
import type { Context } from "./options.ts";
import { say } from "./output.ts";
import { here } from "./paths.ts";

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

/** `minion-toolkit demo`: the whole road on a sample, in the real client, without an account. */
export function demo(program: Command, { assets }: Context): void {
  program
    .command("demo")
    .description("run four tasks on a sample repository: the real Claude Code, a scripted model, no account")
    .option("--dir <folder>", "a new folder for it (default: one below the temporary folder)")
    .action(async ({ dir }: { dir?: string }) => {
      if (dir !== undefined && existsSync(dir))
        throw new Fault("exists", `${dir} is there already`, "name a folder that is not", EXIT.usage);
      const at = here();
      const claude = findClaude(at);
      const version = claude && (await versionOf(claude, at));
      if (!claude || !version || !enough(version, CLAUDE_NEEDED)) {
        const found = claude ? `${claude} is ${version ?? "of no version that it tells"}` : "claude is not on PATH";
        throw new Fault(
          "no-claude",
          found,
          `the demo drives Claude Code ${CLAUDE_NEEDED} or newer: install it`,
          EXIT.usage,
        );
      }
      const folder = dir === undefined ? mkdtempSync(join(realpathSync(tmpdir()), "minion-demo-")) : resolve(dir);
      const home = join(folder, "home");
      await change("install", { dir: join(home, ".claude") }, { assets, at, say: () => {} });
      say(`Claude Code ${version}, a scripted model in the model's place, everything below ${folder}\n`);
      const repo = join(folder, "audit-log");
      const isLanded = await runDemo({ root: join(assets, "../dist/demo"), claude, home, repo, say: print });
      if (!isLanded) throw new Fault("not-landed", "not every task landed", `see the report above, and ${repo}`);
      print(`\nSee for yourself:\n  cd ${repo} && git switch minion/r1/line && npm ci && npm run lint && npm test`);
    });
}
