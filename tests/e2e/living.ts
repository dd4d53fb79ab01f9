import { setTimeout } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import type { ClientRun } from "../../demo/client.ts";
import { bash } from "../../demo/talk.ts";
import { type Behaviour, begin, end, good } from "../../demo/worker-script.ts";
import { handoff } from "../handoff.ts";
import { type JournalEvent, type Mode, QUICK_GATES, World } from "./world.ts";

let world: World;
afterEach(() => world.close());

/** Task 4 is green for its worker, and red on the line with what 1 has made. */
const LIST = `### Task 1: One
Files: src/one.txt

### Task 2: Two
Files: src/two.txt
Ask: cents or euros?

### Task 3: Three
Depends: 1
Files: src/three.txt

### Task 4: Four
Files: src/four.txt, src/more.txt
Verify: sh four.sh

### Task 6: Six
Files: src/six.txt

### Task 7: Seven
Depends: 6
Files: src/seven.txt
`;

const CHANGE = `### Task 3: Three, in cents
Money is in cents.

### Task 5: Five
Depends: 3
Files: src/five.txt
`;

/** A run in which the plan lives: a finding changes it, a question is answered, a person stops and
 * drops, a check is red at landing only.
 * @param isKilled the session is killed, and taken up by a new one, after each of these */
export function livingPlan(mode: Mode, isKilled: boolean): void {
  const how = isKilled ? ", killed in between" : "";
  test(`a plan that lives in ${mode} mode${how}: one green line, as the person and the workers say`, async () => {
    const files = ["one", "two", "three", "four", "five", "six", "seven"];
    // Its check is one that the project's person has agreed to: with -p nobody can be asked.
    world = World.small(
      Object.fromEntries(files.map((name, at) => [at + 1, { [`src/${name}.txt`]: `${name}\n` }])),
      `${QUICK_GATES}\nallow+:\n  - sh four.sh`,
    );
    world.write("four.sh", "test ! -f src/one.txt || test -f src/more.txt\n");
    world.git("add", "--all");
    world.git("commit", "--quiet", "-m", "chore: check");
    const { tasks } = world.edits;
    const [one, four] = [tasks[1], tasks[4]];
    if (!one || !four) throw new Error("there are tasks 1 and 4");
    const finding = handoff("did it").replace(
      "Findings for others: none",
      "Findings for others: three multiplies money",
    );
    world.edits = { ...world.edits, tasks: { ...tasks, 1: { ...one, handoff: finding } } };
    world.replan = (findings) =>
      findings.some(({ text }) => text.includes("multiplies")) ? CHANGE : "";
    const isThere = (what: (event: JournalEvent) => boolean) => async (): Promise<void> => {
      while (!world.events().some(what)) await setTimeout(20);
    };
    const oneLanded = isThere(
      ({ event, landed }) => event === "proven" && JSON.stringify(landed).includes("r1/1."),
    );
    const mended: Behaviour = async function* (worker) {
      if (worker.try === 1) {
        yield* waitsFor(oneLanded, worker);
        return;
      }
      const more = { write: "src/more.txt", content: "more\n" } as const;
      yield* good({ ...worker, edits: { ...worker.edits, steps: [...worker.edits.steps, more] } });
    };
    /** Begins at once, and hands in once something has happened. */
    async function* waitsFor(
      happened: () => Promise<void>,
      worker: Parameters<Behaviour>[0],
    ): ReturnType<Behaviour> {
      let isFirst = true;
      const slow = good(worker);
      let said: Parameters<typeof slow.next>[0] | undefined;
      for (;;) {
        const { done, value } = said ? await slow.next(said) : await slow.next();
        if (done || !value) return;
        said = yield value;
        if (!isFirst) continue;
        isFirst = false;
        await happened();
      }
    }
    /** Is stopped by the person, hears so at its next call, and ends. */
    const stopped: Behaviour = async function* (worker) {
      yield* begin(worker);
      await isThere(({ event }) => event === "stopped")();
      yield* bash("ls src");
      yield* end(worker, "stopped");
    };
    const behaviours = { 4: mended, 6: stopped };
    let client = await world.start(`/minion ${world.list(LIST)}`, mode, behaviours);
    const goesOn = async (): Promise<void> => {
      if (!isKilled) return;
      client.kill();
      await client.done;
      client = await world.start("/minion --resume", mode, behaviours);
    };
    await happens(
      client,
      ({ event, attempt }) => event === "begun" && `${attempt}`.startsWith("r1/6."),
    );
    world.minion("stop", "6");
    await goesOn();
    await happens(client, ({ event }) => event === "changed");
    world.minion("retry", "2", "-m", "cents");
    await goesOn();
    await happens(
      client,
      ({ event, attempt }) => event === "begun" && `${attempt}`.startsWith("r1/2."),
    );
    world.minion("drop", "7", "6");
    await goesOn();
    const last = await client.done;
    expect(last.code).toBe(0);
    if (!isKilled) expect(last.denials).toMatchObject([{ tool_input: { command: "ls src" } }]);
    expect(world.states()).toEqual({
      1: "landed",
      2: "landed",
      3: "landed",
      4: "landed",
      5: "landed",
      6: "dropped",
      7: "dropped",
    });
    // Killed before that, its second worker did it right at once.
    if (!isKilled)
      expect(world.named("not-landed", "r1/4.1")).toMatchObject([{ reason: "line-red" }]);
    const begun = world.asked("worker").map(({ messages }) => JSON.stringify(messages));
    expect(begun.some((text) => text.includes("Three, in cents"))).toBe(true);
    expect(begun.some((text) => text.includes("> cents"))).toBe(true);
    const line = Object.keys(world.files("minion/r1/line")).filter((path) =>
      path.startsWith("src/"),
    );
    expect(line.sort()).toEqual(
      ["five", "four", "more", "one", "start", "three", "two"].map((name) => `src/${name}.txt`),
    );
    // One request for a round's start and one after it, beside what begins and ends a session.
    if (!isKilled) {
      const rounds = world.asked("orchestrator").length - 6;
      expect(rounds).toBeLessThanOrEqual(2.1 * roundsOf(world.named("dispatched")) + 2);
    }
  });
}

const happens = (client: ClientRun, what: (event: JournalEvent) => boolean): Promise<void> =>
  world.until(client, what);

/** How often something was dispatched at once. */
const roundsOf = (dispatched: readonly JournalEvent[]): number =>
  new Set(dispatched.map(({ at }) => at)).size;
