import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { NEEDED } from "../../rails/program/versions.ts";

// What is promised is what runs: the demo's road, four tasks from a typed list to a proven line, on the oldest client, one
// in the middle and the pinned one, the oldest git and each Node that is there. Others come from their registry, or from
// folders that are named: MINION_GITS and MINION_NODES are lists as PATH is one, of folders with the program in them.

const TOP = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "minion-versions-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pinned: string = JSON.parse(readFileSync(join(TOP, "package.json"), "utf8")).devDependencies[
  "@anthropic-ai/claude-code"
];
const PINNED = join(TOP, "node_modules/.bin");
/** In the middle between the oldest and the pinned one. */
const MIDDLE = "2.1.265";

const listed = (name: string): string[] =>
  (process.env[name] ?? "").split(delimiter).filter((path) => path !== "" && existsSync(path));
const gits = [...new Set([...listed("MINION_GITS"), "/opt/git-2.31/bin"])].filter(existsSync);
const nodes = [dirname(process.execPath), ...listed("MINION_NODES")];

/** A client of that very version, installed; the folder that it lies in. */
function clientOf(version: string): string {
  const at = join(folder, version);
  const wanted = `@anthropic-ai/claude-code@${version}`;
  execFileSync("npm", ["install", "--prefix", at, "--no-audit", "--no-fund", wanted], {
    stdio: "ignore",
  });
  return join(at, "node_modules/.bin");
}

/** What the demo ends with, with these folders first on PATH. */
function demo(node: string, ...first: string[]): Promise<{ code: number; said: string }> {
  const env = { ...process.env, PATH: [...first, node, process.env.PATH].join(delimiter) };
  const words = [join(TOP, "dist/minion-toolkit.js"), "demo"];
  return new Promise((resolve) => {
    execFile(join(node, "node"), words, { env, timeout: 600_000 }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), said: stdout + stderr }),
    );
  });
}

async function lands(node: string, ...first: string[]): Promise<void> {
  const { code, said } = await demo(node, ...first);
  expect(said).toContain("4 of 4 landed");
  expect(code).toBe(0);
}

const [node = ""] = nodes;
const LONG = 900_000;

test.each([NEEDED.claude, MIDDLE])(
  "Claude Code %s",
  (version) => lands(node, clientOf(version)),
  LONG,
);
test(`Claude Code ${pinned}`, () => lands(node, PINNED), LONG);
test.each(gits)("git in %s", (git) => lands(node, git, PINNED), LONG);
test.each(nodes)("Node in %s", (other) => lands(other, PINNED), LONG);

test(
  "a client before the oldest is refused in words",
  async () => {
    const { code, said } = await demo(node, clientOf("2.1.197"));
    expect(said).toContain(`Claude Code ${NEEDED.claude} or newer`);
    expect(code).toBe(2);
  },
  LONG,
);
