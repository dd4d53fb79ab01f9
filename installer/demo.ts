import { existsSync, mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { runDemo } from "../demo/demo.ts";
import { makeSample, readEdits } from "../demo/sample-repo.ts";
import { EXIT, Fault } from "../rails/fault.ts";
import { git } from "../rails/git/git.ts";
import { change } from "./change.ts";
import { CLAUDE_NEEDED, enough, findClaude, versionOf } from "./claude.ts";
import type { Context } from "./options.ts";
import { say } from "./output.ts";
import { here, type Surroundings } from "./paths.ts";

const print = (line: string): boolean => process.stdout.write(`${line}\n`);

/** `minion-toolkit demo`: the whole road in the real client, without an account. */
export function demo(program: Command, { assets }: Context): void {
  program
    .command("demo")
    .argument("[repository]", "run on a clone of this one instead of the sample")
    .argument("[tasks]", "with it: the task list")
    .argument("[edits]", "with it: a folder with edits.json, which says how each task is done")
    .description("run a task list in the real Claude Code with a scripted model: no account")
    .option("--dir <folder>", "a new folder for it (default: one below the temporary folder)")
    .action(
      async (
        source: string | undefined,
        list: string | undefined,
        edits: string | undefined,
        { dir }: { dir?: string },
      ) => {
        if (source !== undefined && (list === undefined || edits === undefined))
          throw new Fault(
            "usage",
            "a repository wants a task list and edits too",
            "demo REPOSITORY TASKS EDITS",
            EXIT.usage,
          );
        if (dir !== undefined && existsSync(dir))
          throw new Fault("exists", `${dir} is there already`, "name a new folder", EXIT.usage);
        const at = here();
        const { claude, version } = await newEnough(at);
        const folder = dir === undefined ? mkdtempSync(join(realpathSync(tmpdir()), "minion-demo-")) : resolve(dir);
        const home = join(folder, "home");
        const repo = join(folder, "repository");
        await change("install", { dir: join(home, ".claude") }, { assets, at, say: () => {} });
        const root = join(assets, "../dist/demo");
        if (source === undefined) await makeSample(root, repo);
        else await git(folder, "clone", "--quiet", "--no-hardlinks", "--", resolve(source), repo);
        const prompt = `/minion ${list === undefined ? readFileSync(join(root, "tasks-typed.txt"), "utf8").trim() : resolve(list)}`;
        say(`Claude Code ${version}, a scripted model in the model's place, all of it in ${folder}\n`);
        const done = { claude, home, repo, prompt, edits: await readEdits(edits ?? join(root, "edits")) };
        if (!(await runDemo({ ...done, say: print })))
          throw new Fault("not-landed", "not every task landed", `see the report above, and ${repo}`);
        const gates = source === undefined ? " && npm ci && npm run lint && npm test" : "";
        print(`See for yourself:\n  cd ${repo} && git switch minion/r1/line${gates}`);
      },
    );
}

async function newEnough(at: Surroundings): Promise<{ claude: string; version: string }> {
  const claude = findClaude(at);
  const version = claude && (await versionOf(claude, at));
  if (claude && version && enough(version, CLAUDE_NEEDED)) return { claude, version };
  const found = claude ? `${claude} is ${version ?? "of a version that it does not tell"}` : "claude is not on PATH";
  throw new Fault("no-claude", found, `this drives Claude Code ${CLAUDE_NEEDED} or newer: install it`, EXIT.usage);
}
