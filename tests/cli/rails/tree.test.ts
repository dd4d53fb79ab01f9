import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { isFiledAs, pathsBetween, resultOf, treeOf } from "../../../rails/git/repository.ts";

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

test("a result is a row of plain commits: their tree, each path by its own name, what is gone", async () => {
  const commit = (message: string): string => {
    git("add", "-A");
    git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", message);
    return git("rev-parse", "HEAD");
  };
  writeFileSync(join(top, "a \n.txt"), "one\n");
  const base = commit("chore: base");
  writeFileSync(join(top, "c.txt"), "new\n");
  const first = commit("feat: first");
  git("mv", "a \n.txt", "b.txt");
  const head = commit("feat: second");
  expect(await resultOf(base, head, top)).toEqual({
    head,
    tree: git("rev-parse", "HEAD^{tree}"),
    commits: [first, head],
    paths: ["a \n.txt", "b.txt", "c.txt"],
    deleted: ["a \n.txt"],
  });
  expect(await pathsBetween(head, head, top)).toEqual([]);
  await expect(resultOf(head, head, top)).rejects.toMatchObject({ code: "no-commits" });
  await expect(resultOf(head, base, top)).rejects.toMatchObject({ code: "moved-base" });

  const merged = git(
    "-c",
    "user.name=t",
    "-c",
    "user.email=t@t",
    "commit-tree",
    `${head}^{tree}`,
    "-p",
    head,
    "-p",
    first,
    "-m",
    "merge",
  );
  await expect(resultOf(base, merged, top)).rejects.toMatchObject({ code: "merge-commit" });
});

test("a ref's file tells where it stands, and nothing where there is none", async () => {
  const [, branch = ""] = /^ref: (.*)$/m.exec(readFileSync(join(gitDir, "HEAD"), "utf8")) ?? [];
  const head = git("rev-parse", "HEAD");
  expect(await isFiledAs(head, branch, gitDir)).toBe(true);
  expect(await isFiledAs(head, "HEAD", gitDir)).toBe(false);
  git("pack-refs", "--all");
  expect(await isFiledAs(head, branch, gitDir)).toBe(false);
});
