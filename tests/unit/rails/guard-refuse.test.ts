import { describe, expect, test } from "vitest";
import { callsIn } from "../../../rails/guard/command.ts";
import { refusal } from "../../../rails/guard/refuse.ts";
import { SHIPPED } from "./run.ts";

const OWN = "minion/r1/1-one.1";
const refused = (command: string, branch = OWN) => refusal(command, branch, SHIPPED.refuse);
const commandsIn = (text: string): string[][] =>
  callsIn(text).map(({ program, args }) => [program, ...args]);
const isRefused = (command: string): boolean => refused(command) !== null;

describe("what a shell text would start", () => {
  test.each<[string, string[][]]>([
    ["a b && c; d | e\nf &", [["a", "b"], ["c"], ["d"], ["e"], ["f"]]],
    ["X=1 /usr/bin/git a", [["git", "a"]]],
    ["if a; then b; else ! c; fi", [["a"], ["b"], ["c"]]],
    ["for x in 1; do (a); done", [["a"]]],
    [`sh -ec "a 'b c'; d"`, [["sh", "-ec", "a 'b c'; d"], ["a", "b c"], ["d"]]],
    ["cat <<'EOF'\n$(a)\nEOF", [["cat"]]],
    ["cat <<EOF\n$(a)\nEOF", [["a"], ["cat"]]],
    ["a > b 2>&1", [[">", "b"], ["a"]]],
  ])("%j", (text, expected) => {
    const found = commandsIn(text);
    for (const words of expected) expect(found).toContainEqual(words);
    expect(found.filter(([first]) => first !== ">")).toHaveLength(
      expected.filter(([first]) => first !== ">").length,
    );
  });
  test("a text that no shell can read is taken for what can be read of it", () => {
    expect(commandsIn("git stash && (")).toContainEqual(["git", "stash"]);
    expect(commandsIn("")).toEqual([]);
  });
});

describe("what a worker's shell is refused", () => {
  const GIT = [
    "stash",
    "stash push -m x",
    "stash pop",
    "stash drop",
    "worktree add ../x",
    "worktree remove x",
    "worktree prune",
    "worktree move a b",
    "worktree lock x",
    "worktree unlock x",
    "worktree repair",
    "commit --no-verify -m x",
    "commit -n -m x",
    "commit -anm x",
    "push --no-verify origin HEAD",
    "merge --no-veri x",
    "-c core.hooksPath=/dev/null commit -m x",
    "-c core.hookspath= commit",
    "push -f",
    "push --force origin HEAD",
    "push --force-with-lease",
    "push -uf origin HEAD",
    `push origin +${OWN}`,
    "push origin --delete x",
    "push -d origin x",
    "push origin :x",
    "push --mirror",
    "push --all",
    "push --tags",
    "push origin main",
    "push origin HEAD:main",
    `push origin ${OWN}:main`,
    "push origin HEAD main",
    "branch -d x",
    "branch -D x",
    "branch -f main HEAD",
    "branch -m x",
    "branch -M a b",
    "branch -C a b",
    "branch --delete x",
    "branch --force x HEAD",
    "update-ref refs/heads/main HEAD",
    "update-ref -d refs/heads/x",
    "tag -d v1",
    "tag -f v1",
    "tag -af v1 -m x",
    "symbolic-ref HEAD refs/heads/main",
    "symbolic-ref -d HEAD",
    "checkout -b x",
    "checkout -B x",
    "checkout --orphan x",
    "checkout -qb x",
    "switch main",
    "switch -c x",
    "reflog delete HEAD@{1}",
    "reflog expire --all",
    "remote add x y",
    "remote set-url origin y",
    "remote remove x",
    "config user.name x",
    "config --global core.editor x",
    "config --unset user.name",
    "config set a.b c",
  ];
  test.each(GIT)("git %s", (words) => expect(isRefused(`git ${words}`)).toBe(true));

  const ALLOWED = [
    "status",
    "stash list",
    "stash show -p",
    "worktree list",
    "commit -m x",
    "commit -am 'no -n here'",
    "log -n 5",
    "commit -m '--no-verify and git stash are not used'",
    "commit -F - <<'EOF'\ngit stash; git push -f\nEOF",
    "commit -m \"$(cat <<'EOF'\nfix: never git stash\nEOF\n)\"",
    "commit -mnone",
    "commit -m a -m 'b\n- now\n--no-verify'",
    "push",
    "push origin",
    "push origin HEAD",
    "push -u origin HEAD",
    `push origin ${OWN}`,
    `push origin HEAD:${OWN}`,
    `push origin HEAD:refs/heads/${OWN}`,
    "push -o ci.skip origin HEAD",
    "branch",
    "branch -a",
    "branch --show-current",
    "branch --format x",
    "branch backup",
    "tag",
    "tag v1",
    "symbolic-ref HEAD",
    "checkout -- a",
    "checkout main a",
    `switch ${OWN}`,
    "reflog",
    "remote -v",
    "config user.name",
    "config --get user.name",
    "config --list",
    "config get a.b",
    "-c color.ui=false diff",
    "restore a",
    "reset --hard HEAD~1",
    "rebase --continue",
    "show minion/r1/1-one.1:src/a",
    "diff refs/heads/minion/r1/line",
  ];
  test.each(ALLOWED)("not: git %s", (words) => expect(isRefused(`git ${words}`)).toBe(false));

  test.each([
    "cd src && git stash",
    "git add -A; git stash",
    "git status | git stash",
    "git status\ngit stash",
    "echo $(git stash)",
    'echo "`git stash`"',
    "(git stash)",
    "X=1 git stash",
    "git -C ../x stash",
    "git -c user.name=x --no-pager stash",
    "git --git-dir /x stash",
    'sh -c "git stash"',
    'bash -lc "cd x && git stash"',
    "if true; then git stash; fi",
    "g() { git stash; }; g",
    "/usr/bin/git stash",
  ])("in other words: %j", (command) => expect(isRefused(command)).toBe(true));

  test.each([
    ["gh pr merge 1", true],
    ["gh -R a/b pr merge 1 --squash", true],
    ["gh pr view 1", false],
    ["gh pr comment -b 'merge it'", false],
    ["minion submit <<'EOF'\nminion land 1; git stash > .git/minion/r1/x\nEOF", false],
    ["minion gate --all && minion land 1", true],
    ["rg 'git stash' docs", false],
    ["echo git push --force", false],
    ["echo x >> .git/minion/r1/events.jsonl", true],
    ["cp x /a/repo/.git/minion/r1/output/x.log", true],
    ["cat x | tee $(git rev-parse --git-common-dir)/minion/r1/events.jsonl", true],
    ["node -e \"fs.rmSync('.git/minion/r1')\"", true],
    ["{ echo a; } > ../.git/minion/r1/events.jsonl", true],
    ["cat .git/minion/r1/output/x.log | tail -n 5", false],
    ["sed -n 1,5p /a/repo/.git/minion/r1/output/x.log", false],
    ["sed -i s/a/b/ /a/repo/.git/minion/r1/events.jsonl", true],
    ["sed -n -i s/a/b/ .git/minion/r1/events.jsonl", true],
    ["ls .git/minion", false],
    ["rm -rf .git/minion", true],
    ["rm .git/minion/r1/x cat", true],
  ])("%j → %s", (command, expected) => expect(isRefused(command)).toBe(expected));

  test("what a person adds to the blueprint, with its way out", () => {
    const rules = [{ commands: ["^npm (publish|version)"], way: "releases are made by hand" }];
    expect(refusal("npm test && npm publish --tag next", OWN, rules)).toBe(
      "npm publish --tag next: releases are made by hand",
    );
    expect(refusal("echo 'npm publish'", OWN, rules)).toBeNull();
  });

  test("before it began, no branch is its own", () => {
    expect(refused("git push origin HEAD", "")).toBeNull();
    expect(refused("git push origin main", "")).not.toBeNull();
    expect(refused("git push origin HEAD:", "")).not.toBeNull();
  });
});
