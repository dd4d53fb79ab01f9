import { spawnSync } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import type { Speaker, Turn } from "../../demo/talk.ts";
import { type Behaviour, good } from "../../demo/worker-script.ts";
import { isAlive, type ProcessMark } from "../../rails/program/process.ts";
import { World } from "../e2e/world.ts";

let world: World;
afterEach(() => world.close());

const noTerminal = spawnSync("tmux", ["-V"]).status !== 0;

/** What a person sees at the end of a run. */
const REPORT = /What next|minion merge/;
const LONG = 1_200_000;

/** A run of three tasks, of which the last waits for another one.
 * @param before the task for which it waits
 * @returns what a person types to begin it */
function three(before: 1 | 2): string {
  world = World.small({
    1: { "src/one.txt": "one\n" },
    2: { "src/two.txt": "two\n" },
    3: { "src/three.txt": "three\n" },
  });
  const list = world.list(
    "### Task 1: One\nFiles: src/one.txt\n\n### Task 2: Two\nFiles: src/two.txt\n\n" +
      `### Task 3: Three\nDepends: ${before}\nFiles: src/three.txt\n`,
  );
  return `/minion ${list}`;
}

/** Something that has not happened until it is told that it has. */
function moment(): Readonly<{ comes: Promise<void>; tell: () => void }> {
  let tell = () => {};
  const comes = new Promise<void>((resolve) => {
    tell = resolve;
  });
  return { comes, tell };
}

/** A worker that does nothing until something has happened. */
const once = (happened: Promise<void>): Behaviour =>
  async function* (worker) {
    await happened;
    yield* good(worker);
  };

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await setTimeout(200);
}

const launched = (attempt: string) => () => world.named("launched", attempt).length > 0;

/** How often somebody began to wait in place of the session. */
const waits = (): ProcessMark[] =>
  world
    .named("job")
    .filter(({ name }) => name === "wait r1")
    .map(({ process }) => process as ProcessMark);

/** How many wait in place of the session now. */
async function waiting(): Promise<number> {
  const alive = await Promise.all(waits().map(isAlive));
  return alive.filter(Boolean).length;
}

/** All three landed, each once. */
function expectAllOnce(): void {
  expect(world.states()).toEqual({ 1: "landed", 2: "landed", 3: "landed" });
  expect(world.files("minion/r1/line")).toEqual({
    ...world.files("main"),
    "src/one.txt": "one",
    "src/two.txt": "two",
    "src/three.txt": "three",
  });
  const subjects = world.git("log", "--format=%s", "main..minion/r1/line").split("\n");
  expect(subjects.sort()).toEqual(["feat: task 1", "feat: task 2", "feat: task 3"]);
}

/** A foreman that is not heard in one turn. */
function unheard(isIt: (turn: Turn) => boolean, begins: () => void, over: Promise<void>) {
  return (usual: Speaker): Speaker =>
    async function* (first) {
      const talk = usual(first);
      let said = await talk.next();
      let isOver = false;
      while (!said.done) {
        let turn = yield said.value;
        if (!isOver && isIt(turn)) {
          begins();
          await over;
          isOver = true;
          turn = yield ["Nobody hears this."];
        }
        said = await talk.next(turn);
      }
    };
}

test.skipIf(noTerminal)(
  "Esc while the foreman waits, and in the middle of its turn: the next notice goes through, all land (needs tmux)",
  async () => {
    const typed = three(1);
    const [one, two, turn, cut] = [moment(), moment(), moment(), moment()];
    const isWoken = ({ text }: Turn) => text.includes("says now") && text.includes("r1/3.1");
    world.as = unheard(isWoken, turn.tell, cut.comes);
    const terminal = await world.open({ 1: once(one.comes), 2: once(two.comes) });
    await terminal.see(/auto mode/);
    await terminal.type(typed);
    await until(launched("r1/2.1"));
    await until(async () => (await waiting()) === 1);
    await terminal.press("Escape");
    one.tell();
    await turn.comes;
    await terminal.press("Escape");
    await terminal.see(/Interrupted/);
    cut.tell();
    // Nobody waits: only the notice of the other worker can tell that one is to be started.
    expect(await waiting()).toBe(0);
    expect(world.named("launched", "r1/3.1")).toEqual([]);
    two.tell();
    await terminal.see(REPORT, LONG);
    expectAllOnce();
  },
);

test.skipIf(noTerminal)(
  "a turn that the person types while workers work: answered, then one waits, all land (needs tmux)",
  async () => {
    const typed = three(2);
    const released = moment();
    const terminal = await world.open({ 1: once(released.comes), 2: once(released.comes) });
    await terminal.see(/auto mode/);
    await terminal.type(typed);
    await until(launched("r1/2.1"));
    await until(async () => (await waiting()) === 1);
    const before = waits().length;
    await terminal.type("How far are we?");
    await until(() => waits().length > before);
    const asked = world.asked("orchestrator").map(({ messages }) => JSON.stringify(messages));
    expect(asked.at(-1)).toContain("How far are we?");
    await until(async () => (await waiting()) === 1);
    expect(await isAlive(waits().at(-1) as ProcessMark)).toBe(true);
    released.tell();
    await terminal.see(REPORT, LONG);
    expectAllOnce();
  },
);

test.skipIf(noTerminal)(
  "/exit in the middle, then a new session with /minion --resume: nobody waits on, all land (needs tmux)",
  async () => {
    const typed = three(2);
    const terminal = await world.open({ 2: once(new Promise(() => {})) });
    await terminal.see(/auto mode/);
    await terminal.type(typed);
    await until(() => world.named("landed").length > 0);
    await until(async () => (await waiting()) === 1);
    await terminal.type("/exit");
    await terminal.see(/Exit and stop tasks/);
    await terminal.press("Enter");
    const [{ owner } = { owner: null }] = world.named("started");
    await until(async () => !(await isAlive(owner as ProcessMark)));
    await until(async () => (await waiting()) === 0);
    const anew = await world.open();
    await anew.see(/auto mode/);
    await anew.type("/minion --resume");
    await anew.see(REPORT, LONG);
    expectAllOnce();
    expect(world.named("ended")).toMatchObject([{ attempt: "r1/2.1", reason: "session-lost" }]);
  },
);

test("without a terminal, killed while it waits, then called with /minion --resume: nobody waits on, all land", async () => {
  const typed = three(2);
  const client = await world.start(typed, "default", { 2: once(new Promise(() => {})) });
  await until(async () => world.named("landed").length > 0 && (await waiting()) === 1);
  // Only the client: what it has started is left alone.
  process.kill(client.pid, "SIGKILL");
  expect((await client.done).code).toBe(null);
  await until(async () => (await waiting()) === 0);
  expect(await world.run("/minion --resume", "default")).toMatchObject({ code: 0, denials: [] });
  expectAllOnce();
  expect(world.named("ended")).toMatchObject([{ attempt: "r1/2.1", reason: "session-lost" }]);
});
