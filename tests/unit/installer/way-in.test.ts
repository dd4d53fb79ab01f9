import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { change } from "../../../installer/change.ts";
import { refuseOldNode } from "../../../installer/claude.ts";
import { findRoot } from "../../../installer/paths.ts";
import { act, lay, makeAssets, temporary } from "./fixture.ts";

const assets = makeAssets();

it.each(["18.20.4", "20.11.1", "16.0.0"])(
  "Node %s is refused before anything is written",
  async (node) => {
    const home = temporary();
    const at = { env: { HOME: home }, cwd: home, home };
    for (const verb of ["install", "update"] as const)
      await expect(change(verb, {}, { assets, at, node })).rejects.toMatchObject({
        code: "node",
        exit: 2,
        message: `Node ${node} is too old: nothing was written`,
      });
    expect(readdirSync(home)).toEqual([]);
    expect(() => refuseOldNode("20.12.0")).not.toThrow();
  },
);

it.each(["", "somewhere"])(
  "a HOME of «%s» is no home, and nothing is written below the folder that one is in",
  async (home) => {
    const cwd = temporary();
    const at = { env: { HOME: home }, cwd, home };
    await expect(change("install", {}, { assets, at })).rejects.toMatchObject({
      code: "no-home",
      exit: 2,
    });
    await expect(change("install", { dir: "~/x" }, { assets, at })).rejects.toMatchObject({
      code: "no-home",
    });
    expect(readdirSync(cwd)).toEqual([]);
    expect(findRoot({ dir: "/full" }, at).root).toBe("/full");
  },
);

it.each(["user", "project"] as const)(
  "--dir beside --scope %s is refused: they name two folders",
  (scope) => {
    const at = { env: {}, cwd: "/", home: "/home/x" };
    expect(() => findRoot({ dir: "/full", scope }, at)).toThrow(
      `--dir and --scope ${scope} name two folders`,
    );
  },
);

it("uninstall names where the person's originals lie that install --force replaced", async () => {
  const root = join(temporary(), ".claude");
  lay(root, { "skills/minion/SKILL.md": "mine" });
  const { plan } = await act("install", root, assets, { force: true });
  expect(plan.backup).not.toBe(null);
  const { plan: gone } = await act("uninstall", root, assets);
  expect(gone.notes.map(({ code, file }) => [code, file])).toContainEqual(["saved", plan.backup]);
  expect(existsSync(plan.backup as string)).toBe(true);
});
