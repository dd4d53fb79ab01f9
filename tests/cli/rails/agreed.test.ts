import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Scene } from "./scene.ts";

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(() => scene.destroy());

const asked = async (command: string) => {
  const { json } = await scene.hook("PreToolUse", { tool_name: "Bash", tool_input: { command } });
  return json.hookSpecificOutput;
};

test("the rails that a project brings are shown once, and again when they change", async () => {
  const first = await asked("minion start tasks.md");
  expect(first.permissionDecision).toBe("ask");
  expect(first.permissionDecisionReason).toContain("! grep -rn FAIL src");
  // Asking is no yes.
  expect((await asked("minion start tasks.md")).permissionDecision).toBe("ask");
  await scene.start("1. One\n");
  expect((await asked("minion start tasks.md")).permissionDecision).toBe("allow");
  scene.write(
    ".claude/minion/toolchains.md",
    "| Tool | Command | When |\n|---|---|---|\n| test | `true` | `src` |\n",
  );
  expect((await asked("minion start tasks.md")).permissionDecision).toBe("ask");
});

test("a person can say yes beforehand; a session that says it for them is asked", async () => {
  expect((await asked("minion blueprint --agree")).permissionDecision).toBe("ask");
  expect((await scene.minion(["blueprint", "--agree"])).code).toBe(0);
  expect((await asked("minion start tasks.md")).permissionDecision).toBe("allow");
});

test("a project without rails of its own asks nothing, and a plan agrees to nothing", async () => {
  await scene.minion(["plan", "-"], { input: "1. One\n" });
  expect(existsSync(join(scene.repo, ".git/minion"))).toBe(false);
  scene.git("rm", "-q", "-r", ".claude");
  expect((await asked("minion start tasks.md")).permissionDecision).toBe("allow");
});
