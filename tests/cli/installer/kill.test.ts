import { cpSync, existsSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { Verb } from "../../../installer/plan.ts";
import { LOCK, lockOf, roomOf } from "../../../installer/scan.ts";
import { withLock } from "../../../rails/program/lock.ts";
import {
  act,
  FILES,
  lay,
  makeAssets,
  PERSON,
  snapshot,
  temporary,
} from "../../unit/installer/fixture.ts";
import { node, publish } from "./program.ts";

// Many processes one after another: on a busy machine each of them is slow.
vi.setConfig({ testTimeout: 180_000 });

const BLUEPRINT = "skills/minion-blueprint/SKILL.md";
// A small package: each of its files is one process more to start and kill.
const few = Object.fromEntries(
  [
    "agents/minion-worker.md",
    "skills/minion-overlays/SKILL.md",
    "skills/minion-overlays/domains/backend.md",
    "hooks/hooks.json",
    "hooks/guard.sh",
    "bin/package.json",
  ].map((path) => [path, undefined]),
);
const first = makeAssets("0.1.0", few);
const second = makeAssets("0.2.0", {
  ...few,
  [BLUEPRINT]: `${FILES[BLUEPRINT]}Newer.\n`,
  "bin/more": "",
});

let driver: string;
beforeAll(async () => {
  driver = await publish("0.1.0", first, "tests/cli/installer/kill-driver.ts");
});

/** A root as it is before the verb: a person's files, and for update and uninstall an installation
 * with an edit and an addition. */
async function prepare(verb: Verb, force: boolean): Promise<string> {
  const root = join(temporary(), ".claude");
  lay(root, PERSON);
  if (force) lay(root, { "skills/minion/SKILL.md": "my own", "skills/minion/notes.md": "mine" });
  else if (verb !== "install") {
    await act("install", root, first);
    writeFileSync(join(root, "skills/minion", BLUEPRINT), "mine");
    lay(root, { "skills/minion/mine.md": "mine" });
  }
  return root;
}

const ROOMS = ["skills/.minion-toolkit", "minion-toolkit-backups"];
/** The tree without what the installer keeps for itself while it works, and without backups. */
const visible = (root: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(snapshot(root)).filter(([path]) => !ROOMS.some((room) => path.startsWith(room))),
  );

/** By day every third effect; all of them by night. */
const EVERY = process.env.MINION_NIGHTLY ? 1 : 3;
let points = 0;

describe("I11: killed before each effect", () => {
  it.each([
    ["install", first, "no", "no"],
    ["install", first, "no", "yes"],
    ["update", second, "no", "no"],
    ["update", second, "yes", "no"],
    ["uninstall", first, "no", "no"],
  ] as const)(
    "%s of %s (by two renames: %s, forced: %s) leaves the old or the new, and the next call clears up",
    async (verb, assets, twoRenames, force) => {
      const original = await prepare(verb, force === "yes");
      const old = visible(original);
      const copy = (): string => {
        const root = join(temporary(), ".claude");
        cpSync(original, root, {
          recursive: true,
          verbatimSymlinks: true,
          preserveTimestamps: true,
        });
        return root;
      };
      const run = (root: string, at: number) =>
        node(driver, [verb, root, assets, String(at), twoRenames, force], { home: root });
      const reference = copy();
      const { stdout: count, stderr } = await run(reference, 0);
      expect(stderr).toBe("");
      const fresh = visible(reference);
      expect(fresh).not.toEqual(old);

      let olds = 0;
      let news = 0;
      const steps = Array.from({ length: Number(count) }, (_, index) => index + 1);
      const chosen = steps.filter((step) => (step - 1) % EVERY === 0 || step === Number(count));
      const lane = async (): Promise<void> => {
        for (let step = chosen.shift(); step !== undefined; step = chosen.shift()) {
          const root = copy();
          expect((await run(root, step)).signal, `step ${step}`).toBe("SIGKILL");
          const cut =
            !existsSync(join(root, "skills/minion")) &&
            existsSync(join(root, "skills/.minion-toolkit/old"));
          if (twoRenames === "yes" && cut) olds++;
          else if (isDeepStrictEqual(visible(root), old)) olds++;
          else {
            expect(visible(root), `step ${step}`).toEqual(fresh);
            news++;
          }
          // The killed one's lock is given up after a while: let that while be over.
          const lock = lockOf(join(root, "skills/minion"));
          if (existsSync(lock)) utimesSync(lock, 0, 0);
          const again = await act(verb, root, assets, { force: force === "yes" });
          expect(again.plan.obstacles).toEqual([]);
          expect(visible(root), `after step ${step}`).toEqual(fresh);
          expect(
            [existsSync(roomOf(join(root, "skills/minion"))), existsSync(lock)],
            `after step ${step}`,
          ).toEqual([false, false]);
        }
      };
      await Promise.all([lane(), lane()]);
      expect(olds).toBeGreaterThan(0);
      expect(news).toBeGreaterThan(0);
      points += olds + news;
      console.log(
        `kill points: ${olds + news} in ${verb}${force === "yes" ? " --force" : ""}${twoRenames === "yes" ? ", two renames" : ""}; ${points} so far`,
      );
    },
  );
});

describe("two installers at once", () => {
  it("one waits for the other, and both are content", async () => {
    const root = join(temporary(), ".claude");
    const results = await Promise.all(
      ["install", "install", "install"].map((verb) =>
        node(driver, [verb, root, first, "0", "no", "no"], { home: "/" }),
      ),
    );
    expect(results.map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ""],
      [0, ""],
      [0, ""],
    ]);
    expect(results.filter(({ stdout }) => stdout !== "0")).toHaveLength(1);
    expect(readdirSync(join(root, "skills"))).toEqual(["minion"]);
  });

  it("a call that finds the lock held waits, and works once it is free", async () => {
    const root = join(temporary(), ".claude");
    let free = (): void => {};
    const held = new Promise<void>((done) => {
      free = done;
    });
    let holder: Promise<void> | undefined;
    await new Promise<void>((isHeld) => {
      holder = withLock(join(root, "skills"), LOCK, () => {
        isHeld();
        return held;
      });
    });
    const waiting = act("install", root, first);
    await setTimeout(500);
    expect(existsSync(join(root, "skills/minion"))).toBe(false);
    free();
    await holder;
    expect((await waiting).applied).toBe(true);
    expect(readdirSync(join(root, "skills"))).toEqual(["minion"]);
  });

  it("install and uninstall at the same time leave the one or the other, whole", async () => {
    const root = join(temporary(), ".claude");
    await act("install", root, first);
    const installed = snapshot(root);
    const results = await Promise.all(
      ["uninstall", "install", "uninstall", "install"].map((verb) =>
        node(driver, [verb, root, first, "0", "no", "no"], { home: "/" }),
      ),
    );
    expect(results.map(({ code, stderr }) => [code, stderr])).toEqual(results.map(() => [0, ""]));
    // Which folders above were there before is seen without the lock, so that an empty one may
    // stay: files are whole.
    const filesIn = (tree: Record<string, string>) =>
      Object.keys(tree).filter((path) => tree[path] !== "folder 755");
    expect([[], filesIn(installed)]).toContainEqual(filesIn(snapshot(root)));
  });
});
