import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { CLAUDE } from "./world.ts";

let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "minion roads-")));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const run = (file: string, args: readonly string[]): string =>
  execFileSync(file, args, {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home },
    encoding: "utf8",
    stdio: "pipe",
  });
const loaded = (): unknown => JSON.parse(run(CLAUDE, ["plugin", "list", "--json"]));
const MINION = expect.arrayContaining([
  expect.objectContaining({ id: "minion@skills-dir", enabled: true }),
]);

test("npx of the packed tarball installs without the checkout, and takes it away again", () => {
  const npx = (...args: string[]) =>
    run("npm", [
      "exec",
      "--yes",
      "--offline",
      `--package=${inject("tarball")}`,
      "--",
      "minion-toolkit",
      ...args,
    ]);
  npx("install");
  expect(loaded()).toEqual(MINION);
  expect(run(join(home, ".claude/skills/minion/bin/minion"), ["--version"])).toMatch(
    /^\d+\.\d+\.\d+\n$/,
  );
  npx("uninstall");
  expect(existsSync(join(home, ".claude/skills/minion"))).toBe(false);
});

test("npm i -g, then minion-toolkit install", () => {
  const prefix = join(home, "global");
  mkdirSync(prefix);
  run("npm", ["install", "--global", "--offline", "--prefix", prefix, inject("tarball")]);
  run(join(prefix, "bin/minion-toolkit"), ["install"]);
  expect(loaded()).toEqual(MINION);
});
