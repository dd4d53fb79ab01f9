import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { handoff } from "../../handoff.ts";
import { type Answer, Scene } from "./scene.ts";

const blueprint = (workers: number): string =>
  `---\nbounds:\n  workers: ${workers}\ngates:\n  - name: test\n    run: "! grep -rn FAIL src"\n---\n`;

/** Lets workers of several runs go through their whole lives in one repository, all at once and
 * with nothing to keep them apart: each its own chain of `begin`, `gate`, `submit` and `land`
 * processes. Again for each round. Then nothing has failed, everything is on its line once, and
 * nothing is left over. */
export async function crowd({
  rounds,
  runs,
  workers,
}: {
  rounds: number;
  runs: number;
  workers: number;
}) {
  const scene = new Scene(blueprint(workers));
  const run = async (args: string[], cwd = scene.repo, input = ""): Promise<Answer> => {
    const answer = await scene.minion([...args, "--json"], { cwd, input });
    if (answer.code !== 0 || answer.stderr !== "")
      throw new Error(`${args.join(" ")}: ${answer.code}\n${answer.stdout}${answer.stderr}`);
    return answer;
  };
  try {
    for (let round = 0; round < rounds; round++) {
      const list = Array.from({ length: workers }, (_, index) => `${index + 1}. Task\n`).join("");
      const names: string[] = [];
      for (let at = 0; at < runs; at++)
        names.push((await run(["start", "-", "--new"], scene.repo, list)).json.run);
      const dispatched = await Promise.all(
        names.map((name) => run(["next", "--run", name, "--wait", "600"])),
      );
      const attempts: string[] = dispatched.flatMap(({ json }) =>
        json.dispatch.map((each: { attempt: string }) => each.attempt),
      );
      expect(attempts).toHaveLength(runs * workers);
      const crowd = await Promise.all(attempts.map((attempt) => scene.agent(attempt)));
      const chains = crowd.map(async ({ attempt, path }) => {
        const [, name = "", task = ""] = /^(r\d+)\/(\d+)\.1$/.exec(attempt) ?? [];
        await run(["begin", attempt], path);
        scene.write(`src/${task}.txt`, attempt, path);
        await run(["gate", "--all", "--wait", "600"], path);
        scene.commit(`feat: task ${task}`, path);
        await run(["submit"], path, handoff("Did it."));
        const { json } = await run(["land", task, "--run", name, "--wait", "600"]);
        expect(json).toMatchObject({ task, landed: true });
      });
      await Promise.all(chains);
      for (const name of names) {
        const line = `minion/${name}/line`;
        const files = Array.from({ length: workers }, (_, index) => `src/${index + 1}.txt`);
        expect(scene.show(line)).toEqual(expect.arrayContaining(files));
        expect(scene.git("rev-list", "--count", `HEAD..${line}`)).toBe(String(workers));
        expect((await run(["next", "--run", name])).json).toMatchObject({
          done: true,
          fault: null,
          attention: [],
        });
        expect((await run(["events", "--run", name])).json.bad).toEqual([]);
        await run(["clean", "--run", name]);
        scene.git("branch", "-q", "-D", line);
      }
      expect(scene.git("branch", "--format=%(refname:short)")).toBe("trunk");
      expect(scene.git("worktree", "list").split("\n")).toHaveLength(1);
      expect(scene.git("status", "--porcelain")).toBe("");
      const tmp = readdirSync(scene.env().TMPDIR as string, { recursive: true });
      expect(tmp).toEqual([`minion-${process.getuid?.()}`]); // where gates queue up
      const inside = readdirSync(join(scene.repo, ".git"), { recursive: true, encoding: "utf8" });
      expect(inside.filter((path) => path.endsWith(".lock") || /^worktrees./.test(path))).toEqual(
        [],
      );
      expect(readFileSync(join(scene.repo, ".git/config"), "utf8")).not.toContain("branch");
    }
    scene.git("fsck", "--connectivity-only");
  } finally {
    await scene.destroy();
  }
}
