import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { treeOf } from "../../../rails/git/repository.ts";

const top = mkdtempSync(join(tmpdir(), "minion-tree-"));
const gitDir = join(top, ".git");
const git = (...args: string[]) => execFileSync("git", args, { cwd: top, encoding: "utf8" }).trim();
afterAll(() => rmSync(top, { recursive: true, force: true }));

test("an edit of the same length in the same second is another tree", async () => {
  git("init", "-q");
  const file = join(top, "a.txt");
  writeFileSync(file, "SLOW\n");
  const second = Math.floor(Date.now() / 1000) - 100;
  utimesSync(file, second, second);
  git("add", "-A");
  const before = git("write-tree");
  expect(await treeOf({ top, gitDir }, [])).toBe(before);
  writeFileSync(file, "fast\n");
  for (const path of [file, join(gitDir, "index")]) utimesSync(path, second, second);
  expect(statSync(file).size).toBe(5);
  expect(await treeOf({ top, gitDir }, [])).not.toBe(before);
});
