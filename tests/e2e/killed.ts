import { afterEach, expect, test } from "vitest";
import { type Behaviour, good } from "../../demo/worker-script.ts";
import { type Mode, World } from "./world.ts";

let world: World;
afterEach(() => world.close());

// Slow enough that a session can be killed while it runs.
const GATES = `
  - name: test
    run: "sleep 1.5; ! grep -rn FAIL src"`;

/** A session killed three times, each time taken up by a new one. */
export function killedThrice(mode: Mode): void {
  test(`killed in ${mode} mode before begin, in a gate, while landing: resumed each time, the end is as if it had not been`, async () => {
    world = World.small(
      {
        1: { "src/one.txt": "one\n" },
        2: { "src/two.txt": "two\n" },
        3: { "src/three.txt": "three\n" },
      },
      GATES,
    );
    const list =
      "### Task 1: One\nFiles: src/one.txt\n### Task 2: Two\nDepends: 1\nFiles: src/two.txt\n### Task 3: Three\nFiles: src/three.txt\n";

    let tellBegins = () => {};
    const begins = new Promise<void>((resolve) => {
      tellBegins = resolve;
    });
    const neverGetsThere: Behaviour = async function* (worker) {
      tellBegins();
      await killed.done;
      yield* good(worker);
    };
    const killed = await world.start(`/minion ${world.list(list)}`, mode, { 1: neverGetsThere });
    await Promise.race([begins, killed.done]);
    killed.kill();
    expect((await killed.done).code).toBe(null);
    expect(world.named("begun", "r1/1.1")).toEqual([]);

    const inGate = await world.start("/minion --resume", mode);
    await world.until(inGate, ({ event, name }) => event === "job" && name === "gate r1/1.2 test");
    inGate.kill();
    expect((await inGate.done).code).toBe(null);
    expect(world.named("submitted", "r1/1.2")).toEqual([]);

    const landing = await world.start("/minion --resume", mode);
    // The first job of that name looked at the base.
    await world.until(landing, ({ event }) => event === "submitted");
    const at = world.named("submitted")[0]?.at ?? 0;
    await world.until(
      landing,
      (each) => each.event === "job" && each.name === "land r1" && each.at >= at,
    );
    landing.kill();
    expect((await landing.done).code).toBe(null);

    const last = await world.run("/minion --resume", mode);
    expect(last).toMatchObject({ code: 0, denials: [] });
    expect(world.states()).toEqual({ 1: "landed", 2: "landed", 3: "landed" });
    expect(world.files("minion/r1/line")).toEqual({
      ...world.files("main"),
      "src/one.txt": "one",
      "src/two.txt": "two",
      "src/three.txt": "three",
    });
    expect(world.git("log", "--format=%s", "main..minion/r1/line").split("\n").sort()).toEqual([
      "feat: task 1",
      "feat: task 2",
      "feat: task 3",
    ]);
    const lost = world.named("ended");
    expect(lost.map(({ attempt }) => attempt)).toEqual(
      expect.arrayContaining(["r1/1.1", "r1/1.2"]),
    );
    expect(new Set(lost.map(({ reason }) => reason))).toEqual(new Set(["session-lost"]));
    expect(world.named("owner")).toHaveLength(3);
  });
}
