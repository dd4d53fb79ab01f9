import { setTimeout } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import type { Speaker } from "../../demo/talk.ts";
import { type Behaviour, good } from "../../demo/worker-script.ts";
import { type Mode, World } from "./world.ts";

let world: World;
afterEach(() => world.close());

const LIST =
  "### Task 1: One\nFiles: src/one.txt\n### Task 2: Two\nDepends: 1\nFiles: src/two.txt\n";
const TOLD = "- running: 2 (r1/2.1)\n- landed: 1\nNext step: `minion next --json --run r1`.";

/** Ends its turn where it should go on, and goes on where it is told to. */
const forgetful = (usual: Speaker): Speaker =>
  async function* (first) {
    const isAnew = first.text.includes(TOLD);
    yield* usual(isAnew ? yield ["Let me know when something happens."] : first);
  };

/** `/compact` in the middle of a run, whose orchestrator is a script that then knows what its
 * context says, no more. */
export function compacted(mode: Mode, how: "goes on" | "forgets to go on and is woken"): void {
  test(`compaction in ${mode} mode: the orchestrator has the run's state and ${how}`, async () => {
    world = World.small({ 1: { "src/one.txt": "one\n" }, 2: { "src/two.txt": "two\n" } });
    if (how !== "goes on") world.as = forgetful;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const held: Behaviour = async function* (worker) {
      await released;
      yield* good(worker);
    };
    const client = await world.start(`/minion ${world.list(LIST)}`, mode, { 2: held }, [], true);
    await world.until(client, ({ event, attempt }) => event === "launched" && attempt === "r1/2.1");
    client.say("/compact");
    while (!client.events.some(({ subtype }) => subtype === "compact_boundary"))
      await setTimeout(50);
    const before = world.asked("orchestrator");
    expect(JSON.stringify(before)).not.toContain("Next step:");
    release();
    client.close();

    expect(await client.done).toMatchObject({ code: 0, denials: [] });
    expect(world.states()).toEqual({ 1: "landed", 2: "landed" });
    const after = world.asked("orchestrator").slice(before.length);
    const texts = after.map(({ messages }) => JSON.stringify(messages).replaceAll("\\n", "\n"));
    expect(texts[0]).toContain(TOLD);
    expect(texts[0]).not.toContain("minion begin r1/1.1");
    // Where it does not go on by itself, it is sent on: once.
    expect(world.named("reminded")).toEqual([]);
    expect(world.named("sent-on")).toHaveLength(how === "goes on" ? 0 : 1);
  });
}
