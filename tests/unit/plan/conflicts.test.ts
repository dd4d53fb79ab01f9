import picomatch from "picomatch";
import { describe, expect, test } from "vitest";
import { findConflicts, matches } from "../../../rails/plan/conflicts.ts";
import { overlap, readPattern } from "../../../rails/plan/glob.ts";
import { makePlan } from "../../../rails/plan/plan.ts";
import type { Task } from "../../../rails/plan/task.ts";
import { someOf } from "../../by-night.ts";
import { pick, random } from "./random.ts";

const meets = (a: string, b: string) =>
  readPattern(a).patterns.some((one) =>
    readPattern(b).patterns.some((other) => overlap(one, other)),
  );
const task = (id: string, files: string[], done = false): Task => ({
  id,
  title: id,
  description: "",
  depends: [],
  files: files.map((path) => ({ path: path.replace(/\?$/, ""), guessed: path.endsWith("?") })),
  forbid: [],
  gates: [],
  agent: [],
  doneWhen: "",
  verify: "",
  checks: [],
  ask: "",
  risk: "",
  model: "",
  workflow: "",
  done,
  line: 1,
});

describe("T4: the same place, however it is written", () => {
  test.each([
    ["src/a.ts", "./src/a.ts"],
    ["src/a.ts", "src//a.ts"],
    ["src/a.ts", "SRC/A.ts"],
    ["src\\a.ts", "src/a.ts"],
    ["src/x/../a.ts", "src/a.ts"],
    ["src/api/", "src/api/u.ts"],
    ["src/api", "src/api/v1/u.ts"],
    ["src/api/", "src/api"],
    ["src/**", "src/x.ts"],
    ["**/*.ts", "src/x.ts"],
    ["**/*.ts", "x.ts"],
    ["src/*.ts", "src/x.*"],
    ["src/**/test/*", "src/a/**/x.ts"],
    ["{src,lib}/a.ts", "lib/*.ts"],
    ["{src/{a,b},lib}/x", "src/b/x"],
    ["a[0-9].ts", "a[!0-4].ts"],
    ["app/[id]/page.tsx", "app/[id]/page.tsx"],
    ["app/[[...slug]]/page.tsx", "app/[[...slug]]/*"],
    ["app/[id]/page.tsx", "app/i/page.tsx"],
    [".", "any/thing"],
    ["./", ".env"],
    ["*", ".env"],
    ["packages/*/src", "packages/a/src/x.ts"],
    ["r\u00e9sum\u00e9.md", "re\u0301sume\u0301.md"],
    ["?.ts", "\u{1F600}.ts"],
  ])("%s and %s", (a, b) => {
    expect(meets(a, b)).toBe(true);
    expect(meets(b, a)).toBe(true);
  });
  test.each([
    ["src/a.ts", "src/a.tsx"],
    ["src/api/", "src/api.ts"],
    ["src/ap", "src/api/u.ts"],
    ["src/*", "src/api/u.ts"],
    ["src/*.ts", "src/*.js"],
    ["src/*.ts", "src/api/"],
    ["src/*", "src/api/**"],
    ["src/a*", "src/b*"],
    ["**/*.test.ts", "src/**/*.js"],
    ["a?.ts", "a.ts"],
    ["app/[id]/page.tsx", "app/new/page.tsx"],
    ["{a,b}.ts", "{c,d}.ts"],
    ["src/{a}.ts", "src/a.ts"],
    ["*a*b", "*c"],
  ])("%s and %s are not", (a, b) => {
    expect(meets(a, b)).toBe(false);
    expect(meets(b, a)).toBe(false);
  });
});

describe("globs against picomatch on every short path", () => {
  const next = random(11);
  const names = ["a", "b", "ab", "ba", "aa", "bb", "abb", "bab"];
  const paths = names.flatMap((x) => [
    x,
    ...names.flatMap((y) => [`${x}/${y}`, ...["a", "b", "ab"].map((z) => `${x}/${y}/${z}`)]),
  ]);
  const segment = (): string => {
    if (next() < 0.15) return "**";
    let text = "";
    for (let length = 0; length === 0 || (next() < 0.5 && length < 3); length++)
      text += pick(next, ["a", "b", "*", "?", "{a,b}", "{ab,a*}"]);
    // A run of stars alone is not one star in every reading.
    return text.replace(/\*+/g, "*");
  };
  const glob = () => {
    const parts = [segment()];
    while (next() < 0.55 && parts.length < 3) parts.push(segment());
    return parts.join("/").replace(/(\*\*\/)+\*\*/g, "**");
  };
  const expand = (text: string): string[] => {
    const [all, choices] = /\{([^{}]*)\}/.exec(text) ?? [];
    return all === undefined
      ? [text]
      : (choices ?? "").split(",").flatMap((one) => expand(text.replace(all, one)));
  };
  const has = (pattern: string) => picomatch(pattern, { dot: true, posix: true });
  // Our reading in picomatch's words: a plain last name is a folder as well, `x/**` is what is in
  // x.
  const forms = (pattern: string) =>
    expand(pattern).flatMap((form) => {
      if (/(^|\/)\*\*$/.test(form)) return [form.replace(/\*\*$/, "**/*")];
      return /[*?[][^/]*$/.test(form) ? [form] : [form, `${form}/**/*`];
    });
  const oracle = (pattern: string) => {
    const tests = forms(pattern).map(has);
    return new Set(paths.filter((path) => tests.some((test) => test(path))));
  };
  const globs = Array.from({ length: someOf(300) }, glob);

  test("one path", () => {
    for (const pattern of globs.slice(0, someOf(120))) {
      const right = oracle(pattern);
      for (const path of paths)
        if (matches(pattern, path) !== right.has(path))
          throw new Error(`${pattern} against ${path}: should be ${right.has(path)}`);
    }
  });
  test("two globs", () => {
    let both = 0;
    const sets = globs.map(oracle);
    for (let round = 0; round < someOf(5_000); round++) {
      const i = Math.floor(next() * globs.length);
      const j = Math.floor(next() * globs.length);
      const common = [...(sets[i] ?? [])].find((path) => sets[j]?.has(path));
      both += Number(common !== undefined);
      const found = meets(globs[i] ?? "", globs[j] ?? "");
      if (common !== undefined && !found)
        throw new Error(`${globs[i]} and ${globs[j]} share ${common}`);
      // A shared path may be longer than those that were tried; then a witness must be found among
      // longer ones.
      if (common === undefined && found && !longWitness(globs[i] ?? "", globs[j] ?? ""))
        throw new Error(`${globs[i]} and ${globs[j]} share nothing`);
    }
    expect(both).toBeGreaterThan(someOf(500));
    expect(both).toBeLessThan(someOf(4_500));
  });
  const letters = (length: number, from: string[]): string[] =>
    length === 0
      ? [""]
      : letters(length - 1, from).flatMap((one) => from.map((letter) => one + letter));
  const words = [1, 2, 3, 4, 5, 6].flatMap((length) => letters(length, ["a", "b"]));
  /** Segment by segment, two of which meet if a word of up to six letters is in both. */
  function longWitness(one: string, other: string): boolean {
    const walk = (a: string[], b: string[]): boolean => {
      if (a[0] === "**") return walk(a.slice(1), b) || (b.length > 0 && walk(a, b.slice(1)));
      if (b[0] === "**") return walk(a, b.slice(1)) || (a.length > 0 && walk(a.slice(1), b));
      if (a.length === 0 || b.length === 0) return a.length === b.length;
      const x = has(a[0] ?? "");
      const y = has(b[0] ?? "");
      return words.some((word) => x(word) && y(word)) && walk(a.slice(1), b.slice(1));
    };
    return forms(one).some((a) => forms(other).some((b) => walk(a.split("/"), b.split("/"))));
  }
});

test("what is no path here", () => {
  for (const bad of [
    "",
    "/a",
    "C:/a",
    "c:a",
    "~/a",
    "..",
    "../a",
    "a/../../b",
    "**/../a",
    "\\\\server\\x",
    "!a",
    "+(a|b)",
    "{a,../b}",
  ])
    expect([bad, readPattern(bad).problem]).not.toEqual([bad, undefined]);
  for (const good of [
    "a",
    ".",
    "a/../b",
    "(group)/page.tsx",
    "@modal/x",
    "+page.svelte",
    "a..b",
    "{a,b}/c",
    "a b/c",
  ])
    expect([good, readPattern(good).problem]).toEqual([good, undefined]);
  expect(readPattern("{a,b}".repeat(11)).problem).toMatch(/more than/);
  expect(matches("../a", "a")).toBe(false);
});

describe("conflicts of a list", () => {
  const never = () => false;
  test("pairs in the list's order, the paths as the first writes them, guessed only where all is guessed", () => {
    const tasks = [
      task("1", ["src/**", "package.json?"]),
      task("2", ["./src/a.ts", "package.json?"]),
      task("3", ["package.json"]),
      task("4", ["src/b.ts"], true),
      task("5", ["docs/"]),
    ];
    expect(findConflicts(tasks, never)).toEqual([
      { tasks: ["1", "2"], paths: ["package.json", "src/**"], guessed: false },
      { tasks: ["1", "3"], paths: ["package.json"], guessed: true },
      { tasks: ["2", "3"], paths: ["package.json"], guessed: true },
    ]);
  });
  test("tasks that wait for each other anyway are no conflict", () => {
    const plan = makePlan(
      "1. a\n   Files: x\n2. b (depends on: 1)\n   Files: x\n3. c (depends on: 2)\n   Files: x\n4. d\n   Files: ./X/\n",
      "list",
    );
    expect(plan.conflicts.map(({ tasks }) => tasks.join())).toEqual(["1,4", "2,4", "3,4"]);
  });
  test("as many pairs as by comparing each with each", () => {
    const next = random(23);
    const part = () => pick(next, ["a", "b", "c", "*", "**", "a*", "{a,b}", "[ab]"]);
    const tasks = Array.from({ length: 150 }, (_, index) =>
      task(
        String(index),
        Array.from({ length: 2 }, () =>
          Array.from({ length: 1 + Math.floor(next() * 4) }, part).join("/"),
        ),
      ),
    );
    const naive = tasks.flatMap((one, index) =>
      tasks
        .slice(index + 1)
        .filter((other) => one.files.some((a) => other.files.some((b) => meets(a.path, b.path))))
        .map((other) => `${one.id} ${other.id}`),
    );
    expect(findConflicts(tasks, never).map((conflict) => conflict.tasks.join(" "))).toEqual(naive);
  });
  test("hundreds of paths of one task, wildcards that begin the path, and tasks that wait for each other", () => {
    const next = random(29);
    const folders = ["src", "src/a", "src/a/b", "src-x", "lib", "lib/b"];
    const path = () => `${pick(next, folders)}/f${Math.floor(next() * 60)}.ts`;
    const some = [
      "*.md",
      "*/f1.ts",
      "src/*/f2.ts",
      "*/*/f3.ts",
      "src/a",
      "s*/f4.ts",
      "**/*.md",
      "lib/?/f5.ts",
    ];
    const tasks = Array.from({ length: 40 }, (_, index) =>
      task(String(index), [
        ...Array.from({ length: index % 20 === 0 ? 200 : 2 }, path),
        ...(index % 3 === 0 ? [pick(next, some)] : []),
      ]),
    );
    const ordered = (one: string, other: string) => (Number(one) + Number(other)) % 5 === 0;
    const naive = tasks.flatMap((one, index) =>
      tasks.slice(index + 1).flatMap((other) => {
        const theirs = other.files.flatMap(({ path }) => readPattern(path).patterns);
        const isShared = (path: string) =>
          readPattern(path).patterns.some((a) => theirs.some((b) => overlap(a, b)));
        const paths = one.files.map(({ path }) => path).filter(isShared);
        const isThere = paths.length > 0 && !ordered(one.id, other.id);
        return isThere
          ? [{ tasks: [one.id, other.id], paths: [...new Set(paths)].sort(), guessed: false }]
          : [];
      }),
    );
    expect(findConflicts(tasks, ordered)).toEqual(naive);
    expect(naive.length).toBeGreaterThan(100);
    expect(naive.length).toBeLessThan((40 * 39) / 2 / 2);
  });
});
