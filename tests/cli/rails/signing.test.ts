import { execFileSync } from "node:child_process";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { enough } from "../../../rails/program/versions.ts";
import { Scene } from "./scene.ts";

let scene: Scene;
let key: string;
beforeEach(() => {
  scene = new Scene();
  key = join(scene.home, "a key");
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "t@t", "-f", key]);
  const known = execFileSync("sh", ["-c", 'printf "t@t "; cat "$0.pub"', key], {
    encoding: "utf8",
  });
  scene.write("../signers", known);
  scene.git("config", "gpg.format", "ssh");
  scene.git("config", "gpg.ssh.allowedSignersFile", join(scene.home, "signers"));
  scene.git("config", "user.signingkey", key);
});
afterEach(() => scene.destroy());

const next = async () => (await scene.minion(["next", "--json"])).json;
/** Each commit of a branch beyond where the run began, with what git makes of its signature: `G`
 * for a good one, `N` for none. */
const signatures = (ref: string, base: string): string[] =>
  scene.git("log", "--reverse", "--format=%G? %s", `${base}..${ref}`).split("\n");

/** Lands a task whose worker did as told, and one beside it that so is made anew on the line; then
 * merges all of it into a branch that has moved. */
async function landAndMerge(unsigned: readonly string[]): Promise<string> {
  const base = scene.git("rev-parse", "HEAD");
  await scene.start("1. One\n2. Two\n");
  await next();
  for (const n of [1, 2]) {
    const worker = await scene.agent(`r1/${n}.1`);
    await worker.begin();
    worker.edit({ [`src/${n}.txt`]: `${n}\n` });
    await worker.minion(["gate", "--all"]);
    scene.gitIn(worker.path, "add", "--all");
    scene.gitIn(worker.path, ...unsigned, "commit", "-qm", `feat: ${n}`);
    await worker.submit();
  }
  expect((await next()).landed.sort()).toEqual(["1", "2"]);
  scene.write("src/other.txt", "moved on\n");
  scene.commit("chore: other");
  expect((await scene.minion(["merge"])).code).toBe(0);
  return base;
}

/** The first that signs by a key of ssh. */
const SIGNS_BY_SSH = "2.34";
const [git = ""] = execFileSync("git", ["version"], { encoding: "utf8" }).match(/\d[\d.]*/) ?? [];

describe.runIf(enough(git, SIGNS_BY_SSH))("landing", () => {
  test("signs where commits are signed, each of the line and the merge, also what a worker left unsigned", async () => {
    scene.git("config", "commit.gpgsign", "true");
    const base = await landAndMerge(["-c", "commit.gpgsign=false"]);
    expect(signatures("minion/r1/line", base)).toEqual(["G feat: 1", "G feat: 2"]);
    expect(signatures("trunk", base).at(-1)).toMatch(/^G Merge /);
  });

  test("signs neither a commit nor the merge where they are not, though there is a key", async () => {
    const base = await landAndMerge([]);
    expect(signatures("minion/r1/line", base)).toEqual(["N feat: 1", "N feat: 2"]);
    expect(signatures("trunk", base).at(-1)).toMatch(/^N Merge /);
  });

  test("stops where the key is gone meanwhile: it refuses nobody's work, and leaves nothing unsigned", async () => {
    scene.git("config", "commit.gpgsign", "true");
    const base = scene.git("rev-parse", "HEAD");
    await scene.start("1. One\n");
    await next();
    await scene.goodWorker("r1/1.1", { "src/one.txt": "1\n" });
    renameSync(key, `${key}.away`);
    const answer = await next();
    expect(answer).toMatchObject({
      landed: [],
      fault: expect.stringMatching(/git cherry-pick failed/),
    });
    expect(scene.git("rev-parse", "minion/r1/line")).toBe(base);
    renameSync(`${key}.away`, key);
    expect((await next()).landed).toEqual(["1"]);
    expect(signatures("minion/r1/line", base)).toEqual(["G feat: work"]);
  });
});
