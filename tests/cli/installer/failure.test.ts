import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { Verb } from "../../../installer/plan.ts";
import { lockOf, roomOf } from "../../../installer/scan.ts";
import {
  act,
  FILES,
  lay,
  makeAssets,
  PERSON,
  snapshot,
  temporary,
} from "../../unit/installer/fixture.ts";
import { publish } from "./program.ts";

const BLUEPRINT = "skills/minion-blueprint/SKILL.md";
const first = makeAssets();
const second = makeAssets("0.2.0", { [BLUEPRINT]: `${FILES[BLUEPRINT]}Newer.\n` });
let root: string;
beforeEach(() => {
  root = join(temporary(), ".claude");
  lay(root, PERSON);
});
const target = (path = ""): string => join(root, "skills/minion", path);

async function prepare(verb: Verb): Promise<string> {
  if (verb === "install") return first;
  await act("install", root, first);
  writeFileSync(target(BLUEPRINT), "mine");
  return second;
}

/** Every effect of a verb, by name. */
async function effects(verb: Verb, assets: string): Promise<string[]> {
  const names: string[] = [];
  const exchange = () => false;
  await act(verb, root, assets, {}, { exchange, step: (name) => names.push(name) }).finally(
    () => undefined,
  );
  return names;
}

describe("I11: whatever fails before the swap, nothing changed", () => {
  it.each(["install", "update", "uninstall"] as const)(
    "%s on a full disk, and interrupted, at every effect",
    async (verb) => {
      const assets = await prepare(verb);
      const before = snapshot(root);
      const aside = root;
      root = join(temporary(), ".claude");
      lay(root, PERSON);
      await prepare(verb);
      const all = await effects(verb, assets);
      root = aside;
      const last = all.indexOf("clear");
      expect(last).toBeGreaterThan(verb === "uninstall" ? 3 : 10);
      for (let at = 0; at < last; at++) {
        let count = 0;
        const full = (): void => {
          if (count++ === at)
            throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
        };
        const exchange = () => false;
        await expect(
          act(verb, root, assets, {}, { step: full, exchange }),
          all[at],
        ).rejects.toMatchObject({
          code: "disk-full",
          exit: 3,
          message: expect.stringContaining("nothing changed"),
        });
        expect(snapshot(root), all[at]).toEqual(before);
      }
      for (let at = 0; at < all.indexOf("swap"); at++) {
        const stop = new AbortController();
        let count = 0;
        const step = (): void => {
          if (count++ === at) stop.abort();
        };
        await expect(
          act(verb, root, assets, {}, { step, signal: stop.signal }),
          all[at],
        ).rejects.toMatchObject({
          code: "interrupted",
          exit: 130,
        });
        expect(snapshot(root), all[at]).toEqual(before);
      }
    },
  );

  it("refuses where the folder changed while it worked: an edit made meanwhile is not lost", async () => {
    const assets = await prepare("update");
    const step = (name: string): void => {
      if (name === "manifest") writeFileSync(target("SKILL.md"), "edited meanwhile");
    };
    await expect(act("update", root, assets, {}, { step })).rejects.toMatchObject({
      code: "changed-meanwhile",
      exit: 1,
    });
    expect(readFileSync(target("SKILL.md"), "utf8")).toBe("edited meanwhile");
    expect([existsSync(roomOf(target())), existsSync(lockOf(target()))]).toEqual([false, false]);
  });

  it("clears up what a killed run left, also where nothing else is to be done", async () => {
    await act("install", root, first);
    const before = snapshot(root);
    lay(root, {
      "skills/.minion-toolkit/new/x": "half",
      "skills/.minion-toolkit/gone/y": "old",
      "skills/.minion-toolkit/backup/z": "half",
    });
    chmodSync(join(root, "skills/.minion-toolkit/gone"), 0o500);
    expect((await act("install", root, first)).applied).toBe(false);
    expect(snapshot(root)).toEqual(before);
  });

  it("puts back the old one where a swap by two renames was cut in two", async () => {
    await act("install", root, first);
    const before = snapshot(target());
    execFileSync("mkdir", [roomOf(target())]);
    execFileSync("mv", [target(), join(roomOf(target()), "old")]);
    expect((await act("install", root, first)).applied).toBe(false);
    expect(snapshot(target())).toEqual(before);
  });
});

it("a kept file stays the very file, with its links, time and mode", async () => {
  await act("install", root, first);
  const mine = target("mine.md");
  writeFileSync(mine, "mine", { mode: 0o640 });
  linkSync(mine, join(root, "elsewhere.md"));
  execFileSync("touch", ["-d", "2001-02-03", mine]);
  const before = statSync(mine);
  await act("update", root, second);
  const { ino, mtimeMs, mode, nlink } = statSync(mine);
  expect([ino, mtimeMs, mode, nlink]).toEqual([
    before.ino,
    before.mtimeMs,
    before.mode,
    before.nlink,
  ]);
});

it("a socket or a pipe in the folder is kept, and never waited for", async () => {
  await act("install", root, first);
  execFileSync("mkfifo", [target("pipe")]);
  await act("update", root, second);
  await act("uninstall", root, first);
  expect(lstatSync(target("pipe")).isFIFO()).toBe(true);
});

// Root may write everywhere, so these run as somebody else.
describe.runIf(process.getuid?.() === 0)("for a person who may not write everywhere", () => {
  const nobody = 65534;
  /** The program, where that person can read it. */
  const ready = async (version: string, assets: string): Promise<string> => {
    const program = await publish(version, assets);
    execFileSync("chmod", ["-R", "a+rX", dirname(dirname(program))]);
    return program;
  };
  const run = (program: string, ...args: string[]) =>
    spawnSync(process.execPath, [program, ...args, "--dir", root], {
      uid: nobody,
      gid: nobody,
      cwd: "/",
      encoding: "utf8",
    });
  const open = (): void => void execFileSync("chmod", ["a+rx", dirname(root)]);

  it("read-only files and folders of theirs are no hindrance, and survive update and uninstall", async () => {
    const programs = [await ready("0.1.0", first), await ready("0.2.0", second)] as const;
    open();
    execFileSync("chown", ["-R", `${nobody}:${nobody}`, root]);
    expect(run(programs[0], "install").status).toBe(0);
    lay(target(), { "locked/mine.md": "mine", "readonly.md": "mine" });
    chmodSync(target("readonly.md"), 0o444);
    chmodSync(target("locked"), 0o555);
    execFileSync("chown", ["-R", `${nobody}:${nobody}`, root]);
    for (const args of [
      [programs[1], "update"],
      [programs[1], "uninstall"],
    ] as const)
      expect(run(args[0], args[1]), args[1]).toMatchObject({ status: 0, stderr: "" });
    expect(snapshot(target())).toMatchObject({
      locked: "folder 555",
      "locked/mine.md": expect.any(String),
      "readonly.md": expect.stringContaining("file 444"),
    });
    expect(existsSync(roomOf(target()))).toBe(false);
  });

  it("a folder that may not be written is named, and nothing is written", async () => {
    const program = await ready("0.1.0", first);
    open();
    const before = snapshot(root);
    const { status, stderr } = run(program, "install");
    expect([status, stderr]).toEqual([2, expect.stringContaining("EACCES")]);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(snapshot(root)).toEqual(before);
  });
});
