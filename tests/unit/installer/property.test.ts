import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { act, FILES, makeAssets, snapshot, temporary } from "./fixture.ts";
import { chance } from "./random.ts";

const RUNS = process.env.MINION_NIGHTLY ? 2_000 : 20;
const BLUEPRINT = "skills/minion-blueprint/SKILL.md";
const first = makeAssets("0.1.0");
const second = makeAssets("0.2.0", {
  [BLUEPRINT]: `${FILES[BLUEPRINT]}Newer.\n`,
  "hooks/guard.sh": undefined,
  "skills/new/SKILL.md": '---\nname: new\ndescription: "x"\n---\n',
});

const NAMES = [
  "a",
  "b.md",
  "SKILL.md",
  "agents",
  "skills",
  "minion",
  "commands",
  "with space",
  "ünï",
  "-x",
  "$HOME",
  "*",
  "minion.md",
  "skill.md",
  ".hidden",
  "x.new",
  "quote'\"",
  "line\nbreak",
  "bin",
];

/** Lays a random tree: files of all modes, folders, links that lead somewhere, nowhere and in a
 * circle. */
function grow(folder: string, random: ReturnType<typeof chance>, count: number): void {
  mkdirSync(folder, { recursive: true });
  for (let index = 0; index < count; index++) {
    const path = join(
      folder,
      ...Array.from({ length: 1 + random.below(4) }, () => random.pick(NAMES)),
    );
    try {
      mkdirSync(dirname(path), { recursive: true });
      const kind = random.below(8);
      if (kind === 0) mkdirSync(path);
      else if (kind === 1)
        symlinkSync(random.pick(["nowhere", ".", "../..", "/etc/hosts", path]), path);
      else {
        writeFileSync(
          path,
          random.pick(["", "x", "\u0000\u00ff", "---\nname: minion\n---\n", "\r\n"]),
          { flag: "wx" },
        );
        if (kind === 2) chmodSync(path, random.pick([0o444, 0o600, 0o755]));
      }
    } catch {
      // A name taken already, or below a file: the tree is random enough without it.
    }
  }
}

const inodes = (folder: string): string =>
  Object.keys(snapshot(folder))
    .map(
      (path) =>
        `${path} ${lstatSync(join(folder, path)).ino} ${lstatSync(join(folder, path)).mtimeMs}`,
    )
    .join("\n");

it(`holds in ${RUNS} random trees: the second install writes nothing, uninstall restores, edits survive, nothing else is touched`, async () => {
  let refused = 0;
  let installed = 0;
  for (let seed = 1; seed <= RUNS; seed++) {
    const random = chance(seed);
    const home = temporary();
    const root = join(home, "cfg");
    grow(home, random, 3);
    rmSync(root, { recursive: true, force: true });
    grow(root, random, random.below(8));
    if (random.below(2) === 0)
      grow(
        join(root, random.pick(["skills", "skills/minion", "skills/minion/agents"])),
        random,
        random.below(4),
      );
    const before = snapshot(home);
    const about = `seed ${seed}`;
    const result = await act("install", root, first).catch((error) => error);
    if (result instanceof Error) {
      // A link that leads nowhere, or a file where the folder should be: one clear fault, and
      // nothing written.
      expect(["dangling-link", "not-found"], about).toContain(
        (result as Error & { code: string }).code,
      );
      expect(snapshot(home), about).toEqual(before);
      refused++;
      continue;
    }
    if (result.plan.obstacles.length > 0) {
      expect(snapshot(home), about).toEqual(before);
      refused++;
      continue;
    }
    installed++;
    const after = snapshot(home);
    for (const [path, entry] of Object.entries(before))
      expect(after[path], `${about} ${path}`).toBe(entry);
    const marks = inodes(home);
    expect((await act("install", root, first)).applied, about).toBe(false);
    expect(inodes(home), about).toBe(marks);
    if (random.below(2) === 0) {
      const edited = random.pick([BLUEPRINT, "SKILL.md", "hooks/guard.sh", "bin/minion"]);
      const kept = join(root, "skills/minion", edited);
      writeFileSync(kept, `mine ${seed}`);
      await act("update", root, second);
      expect(readFileSync(kept, "utf8"), about).toBe(`mine ${seed}`);
      expect((await act("update", root, second)).applied, about).toBe(false);
      await act("uninstall", root, first);
      expect(readFileSync(kept, "utf8"), about).toBe(`mine ${seed}`);
      const left = snapshot(home);
      for (const [path, entry] of Object.entries(before))
        expect(left[path], `${about} ${path}`).toBe(entry);
      const extra = Object.keys(left).filter(
        (path) => before[path] === undefined && !`cfg/skills/minion/${edited}`.startsWith(path),
      );
      expect(extra, about).toEqual([]);
    } else {
      if (random.below(2) === 0) await act("update", root, second);
      await act("uninstall", root, first);
      expect(snapshot(home), about).toEqual(before);
    }
  }
  console.log(`random trees: ${installed} installed, ${refused} refused`);
  expect(installed).toBeGreaterThan(RUNS / 4);
  expect(refused).toBeGreaterThan(0);
}, 600_000);
