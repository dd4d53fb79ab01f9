import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { faultOf, invocationsIn } from "./invocations.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };

/** What stands in backticks, and the lines of code blocks. */
function codeIn(page: string): { words: string[]; lines: string[] } {
  const block = /^```\w*\n([\s\S]*?)^```$/gm;
  const blocks = [...page.matchAll(block)].map(([, text = ""]) => text);
  const words = [...page.replaceAll(block, "").matchAll(/`([^`\n]+)`/g)];
  return {
    words: words.map(([, word = ""]) => word),
    lines: blocks.flatMap((text) => text.split("\n")),
  };
}

/** Is this a file or folder of the repository by its looks? Not a pattern, and not a project's. */
const isPath = (word: string): boolean =>
  /^[\w.-]+\/[\w./-]*$|^[\w.-]+\.(md|json|ts)$/.test(word) && !/^\.(git|claude)\//.test(word);

/** The paths that a page names: in backticks, as links, and in the commands that it shows. */
function pathsIn(page: string): string[] {
  const { words, lines } = codeIn(page);
  const called = lines.flatMap((line) => line.split(" "));
  return [...words, ...called].filter(isPath).concat(linksIn(page));
}

/** What a page links to beside itself. */
const linksIn = (page: string): string[] =>
  [...page.matchAll(/\]\(([^)#]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((link) => !link.includes(":"));

const scriptsIn = (page: string): string[] =>
  [...page.matchAll(/\bnpm run ([\w:]+)/g)].map(([, name = ""]) => name);

/** Made by the build or by a run. */
const MADE = ["assets/bin/minion", "dist/", "events.jsonl"];

describe.each(["CONTRIBUTING.md", "SECURITY.md", ".github/pull_request_template.md"])(
  "%s",
  (path) => {
    test("names files, scripts and calls of minion that there are", () => {
      const page = read(path);
      const paths = pathsIn(page).filter((each) => !MADE.includes(each));
      expect(paths.filter((each) => !existsSync(join(ROOT, each)))).toEqual([]);
      expect(scriptsIn(page).filter((name) => !(name in scripts))).toEqual([]);
      const calls = invocationsIn(page);
      expect(calls.map((call) => [call, faultOf(call)]).filter(([, fault]) => fault)).toEqual([]);
    });
  },
);

// Beside ours these name files of projects; docs/changing-the-rails.md has a test that follows it.
test.each(["README.md", "evals/README.md", "tests/trials/README.md"])(
  "%s names scripts and links to pages that there are",
  (path) => {
    const page = read(path);
    expect(scriptsIn(page).filter((name) => !(name in scripts))).toEqual([]);
    const links = linksIn(page).map((link) => join(ROOT, path, "..", link));
    expect(links.filter((each) => !existsSync(each))).toEqual([]);
  },
);

test("a path or a script that is gone is found out", () => {
  expect(pathsIn("`rails/none.ts` [x](gone.md)\n```sh\nnpx vitest run tests/x\n```\n")).toEqual([
    "rails/none.ts",
    "tests/x",
    "gone.md",
  ]);
  expect(scriptsIn("`npm run test:none`")).toEqual(["test:none"]);
});

test("each room has its row", () => {
  const rooms = readdirSync(join(ROOT, "rails"), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  const rows = [...read("CONTRIBUTING.md").matchAll(/^\| `rails\/(\w+)\/` \|/gm)];
  expect(rows.map(([, name]) => name).sort()).toEqual(rooms.map(({ name }) => name).sort());
});
