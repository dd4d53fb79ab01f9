import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readMarkdown } from "../../../rails/blueprint/markdown.ts";
import { Scene } from "../rails/scene.ts";

const ROOT = join(import.meta.dirname, "../../..");
const PAGE = readFileSync(join(ROOT, "docs/changing-the-rails.md"), "utf8");
const PATTERNS = readFileSync(join(ROOT, "assets/skills/minion-blueprint/patterns.md"), "utf8");
const [, SHIPPED = ""] = /^refuse:\n([\s\S]*?)\n\n/m.exec(PATTERNS) ?? [];

let scene: Scene;
beforeEach(() => {
  scene = new Scene("---\n---\n");
  scene.write("package.json", '{ "scripts": { "test": "echo testing" } }\n');
  scene.commit("chore: tests");
});
afterEach(() => scene.destroy());

/** Does what a section of the page says: lays its files, then runs its command. Gives the command's
 * document. */
function follow(title: string) {
  // A heading within a file that is shown ends no section.
  const page = PAGE.replaceAll(/^```\w+\n[\s\S]*?^```$/gm, (block) =>
    block.replaceAll(/^## /gm, "\0"),
  );
  const section = (page.split(/^## /m).find((part) => part.startsWith(title)) ?? "").replaceAll(
    "\0",
    "## ",
  );
  const files = [...section.matchAll(/^`([^`\n]+)`:\n\n```markdown\n([\s\S]*?)^```$/gm)];
  for (const [, path = "", text = ""] of files)
    scene.write(path, text.replace(/^ *# The shipped entries.*$/m, SHIPPED));
  const [, command = ""] = /^```sh\n([\s\S]*?)^```$/m.exec(section) ?? [];
  const env = { ...scene.env(), PATH: `${join(ROOT, "assets/bin")}:${process.env.PATH}` };
  const printed = execFileSync("sh", ["-ec", command], { cwd: scene.repo, env, encoding: "utf8" });
  return {
    files: files.map(([, path]) => join(scene.repo, path ?? "")),
    json: JSON.parse(printed),
  };
}

test("a gate more", async () => {
  const { files, json } = follow("Add a gate");
  expect(json.gates.map(({ name, when }: { name: string; when?: string }) => [name, when])).toEqual(
    [
      ["types", undefined],
      ["test", undefined],
      ["e2e", "end"],
    ],
  );
  expect(json.bounds).toMatchObject({ failures: 3, attempts: 2 });
  expect(json.sources).toMatchObject({ gates: files[0], "bounds.failures": files[0] });
  expect(json.sources["bounds.attempts"]).not.toBe(files[0]);
});

test("what a worker may do, narrowed", async () => {
  const { json } = follow("Narrow what a worker may do");
  const shipped = readMarkdown(PATTERNS, "patterns.md").data.refuse as object[];
  expect(json.refuse.slice(0, -1)).toEqual(shipped);
  expect(json.risks.at(-1)).toMatchObject({ risk: "high", paths: ["db/**"] });
  await scene.start("1. One\n   Files: src/one.txt\n");
  const [{ attempt }] = (await scene.minion(["next", "--json"])).json.dispatch;
  const worker = await scene.agent(attempt);
  await worker.begin();
  const asked = async (command: string) => {
    const who = { agent_id: worker.id, agent_type: "minion:minion-worker", cwd: worker.path };
    const { json } = await scene.hook("PreToolUse", {
      ...who,
      tool_name: "Bash",
      tool_input: { command },
    });
    return json?.hookSpecificOutput;
  };
  const denied = { permissionDecision: "deny" };
  expect(await asked("cd src && psql -c 'drop table users'")).toMatchObject(denied);
  expect((await asked("psql -c x")).permissionDecisionReason).toContain(
    "end, and say what is to be run",
  );
  expect(await asked("git stash")).toMatchObject(denied);
  expect(await asked("git status")).toMatchObject({ permissionDecision: "allow" });
});

test("another workflow", async () => {
  scene.write(
    "tasks.md",
    "1. Say how to start\n   Files: docs/start.md\n2. Say nothing\n   Files: src/a.ts, src/b.ts\n",
  );
  const { json } = follow("Another workflow");
  const [prose, other] = json.tasks;
  expect([prose.workflow, other.workflow]).toEqual(["prose", "default"]);
  expect(json.findings.filter(({ level }: { level: string }) => level === "error")).toEqual([]);
});

test("a domain of one's own", async () => {
  const { json } = follow("A domain of your own");
  expect(json.overlays).toContainEqual(
    expect.objectContaining({ name: "billing", kind: "domain" }),
  );
  scene.commit("docs: a domain");
  await scene.start("### Task 1: Credit notes\nAgent: billing\nFiles: src/billing/\n");
  const [{ attempt }] = (await scene.minion(["next", "--json"])).json.dispatch;
  const worker = await scene.agent(attempt);
  const { brief } = (await worker.minion(["begin", attempt, "--json"])).json;
  expect(brief).toContain("a credit note takes it back");
});

test("the page is short, and tells what else there is", () => {
  expect(PAGE.split("\n").length).toBeLessThan(150);
  expect(readFileSync(join(ROOT, "README.md"), "utf8")).toContain("(docs/changing-the-rails.md)");
});
