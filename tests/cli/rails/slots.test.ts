import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import type { ProcessMark } from "../../../rails/program/process.ts";
import { markOf } from "../../../rails/program/process.ts";
import { MINION, Scene, type Worker } from "./scene.ts";

const scenes: Scene[] = [];
afterEach(() => Promise.all(scenes.splice(0).map((scene) => scene.destroy())));

/** A run with so many workers begun, each with a file of its own. Its gate writes down when it
 * starts and ends, and by whom; while `stop` is there, it does not end. */
async function begun(workers: number, { slots = 1, timeout = 60, gate = "", log = "" } = {}) {
  const at = scenes.length;
  const scene = new Scene();
  scenes.push(scene);
  const place = join(scene.home, "place.sh");
  const file = log || join(scene.home, "log");
  const stop = join(scene.home, "stop");
  writeFileSync(
    place,
    `who=$(ls src | grep -o '[0-9]*'); echo "start ${at}/$who" >> "${file}"
    while test -e "${stop}"; do sleep 0.05; done
    ${gate || "sleep 0.1"}; code=$?; echo "end ${at}/$who" >> "${file}"; exit $code\n`,
  );
  const own = `bounds:\n  workers: 16\n  gate_slots: ${slots}`;
  const gates = `gates:\n  - name: test\n    run: sh "${place}"\n    timeout: ${timeout}\n`;
  scene.write(".claude/minion/blueprint.md", `---\n${own}\n${gates}---\n`);
  scene.commit("chore: rails");
  await scene.start(Array.from({ length: workers }, (_, index) => `${index + 1}. Task\n`).join(""));
  const { dispatch } = (await scene.minion(["next", "--json"])).json;
  const all: Worker[] = [];
  for (const { attempt, task } of dispatch) {
    const worker = await scene.agent(attempt);
    await worker.begin();
    worker.edit({ [`src/${task}.txt`]: task });
    all.push(worker);
  }
  rmSync(file, { force: true });
  const said = () => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []);
  return { scene, all: all as [Worker, ...Worker[]], stop, file, said };
}

const queueOf = (scene: Scene): string =>
  join(scene.env().TMPDIR as string, `minion-${process.getuid?.()}`);

/** The tickets of those who wait or run in a scene's queue, in its order. */
const tickets = (scene: Scene, state: "waits" | "runs"): string[] =>
  readdirSync(queueOf(scene))
    .filter((name) => name.startsWith(state))
    .sort();

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(20);
}

const pairs = (...who: string[]): string[] =>
  who.flatMap((each) => [`start ${each}`, `end ${each}`]);
/** Slots are counted by process, so each gate has one of its own. */
const runGate = (worker: Worker) => worker.spawned(["gate", "test", "--wait", "300", "--json"]);

/** Calls the gates one after another, each once the one before stands in the queue. They end once
 * `stop` is gone. */
async function inTurn({ scene, stop }: { scene: Scene; stop: string }, workers: readonly Worker[]) {
  writeFileSync(stop, "");
  const calls = [];
  for (const worker of workers) {
    calls.push(runGate(worker));
    await until(
      () => [...tickets(scene, "runs"), ...tickets(scene, "waits")].length >= calls.length,
    );
  }
  return calls;
}

test("one at a time and first come, first served; to wait is no failure and counts in no time limit", async () => {
  const run = await begun(5, { timeout: 2 });
  // The slot is taken by this very process, for longer than a gate may run.
  const { pid, started } = (await markOf(process.pid)) as ProcessMark;
  const ticket = join(queueOf(run.scene), `runs+1+${Date.now()}+${pid}+${started}`);
  writeFileSync(ticket, "");
  const calls: ReturnType<typeof runGate>[] = [];
  const order = [3, 1, 5, 2, 4];
  for (const task of order) {
    calls.push(runGate(run.all[task - 1] as Worker));
    await until(() => tickets(run.scene, "waits").length === calls.length);
  }
  await sleep(2300);
  const call = await (run.all[2] as Worker).minion(["gate", "test", "--wait", "0", "--json"]);
  expect(call).toMatchObject({ code: 75, json: { gates: [{ result: "running", failures: 0 }] } });
  expect(run.said()).toEqual([]);
  rmSync(ticket);
  for (const { code, json } of await Promise.all(calls)) {
    expect(code).toBe(0);
    expect(json.gates).toMatchObject([{ result: "pass", failures: 0 }]);
  }
  expect(run.said()).toEqual(pairs(...order.map((task) => `0/${task}`)));
  expect(readdirSync(queueOf(run.scene))).toEqual([]);
});

test("as many at once as there are slots", async () => {
  const run = await begun(4, { slots: 2 });
  const calls = await inTurn(run, run.all);
  await until(() => run.said().length === 2);
  expect([tickets(run.scene, "runs").length, tickets(run.scene, "waits").length]).toEqual([2, 2]);
  rmSync(run.stop);
  expect((await Promise.all(calls)).map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  const running = run.said().map((_, at, all) => {
    const started = all.slice(0, at + 1).filter((line) => line.startsWith("start")).length;
    return 2 * started - at - 1;
  });
  expect([Math.max(...running), running.at(-1)]).toEqual([2, 0]);
});

test("one that is killed leaves its slot to the next, and one that is killed in the queue its place", async () => {
  const run = await begun(3);
  const calls = await inTurn(run, run.all);
  await until(() => run.said().length === 1);
  const [holder] = tickets(run.scene, "runs");
  const [second] = tickets(run.scene, "waits");
  for (const ticket of [second, holder]) process.kill(Number(ticket?.split("+")[3]), "SIGKILL");
  await until(() => run.said().includes("start 0/3"));
  rmSync(run.stop);
  expect((await Promise.all(calls)).map(({ code }) => code)).toEqual([3, 3, 0]);
  expect(run.said().filter((line) => line.endsWith("/2"))).toEqual([]);
});

test("two repositories share the slots, and what a worker waits for lands before other workers' gates", async () => {
  const one = await begun(3);
  const two = await begun(1, { log: one.file });
  const shared = { TMPDIR: one.scene.env().TMPDIR };
  const [done, holder, last] = one.all as [Worker, Worker, Worker];
  await done.finish();
  rmSync(one.file);
  const calls = await inTurn(one, [holder, last]);
  const [other] = two.all;
  calls.push(
    two.scene.spawned(["gate", "test", "--wait", "300", "--json"], {
      cwd: other.path,
      env: shared,
    }),
  );
  await until(() => tickets(one.scene, "waits").length === 2);
  calls.push(one.scene.spawned(["land", "1", "--wait", "300", "--json"]));
  await until(() => tickets(one.scene, "waits").length === 3);
  rmSync(one.stop);
  expect((await Promise.all(calls)).map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  // On the line the first task's file lies alone.
  expect(one.said()).toEqual(pairs("0/2", "0/1", "0/3", "1/1"));
});

test("a gate that runs a gate does not wait for itself", async () => {
  const inner = `"${process.execPath}" "${MINION}" gate lint --wait 60`;
  const gates = `  - name: lint\n    run: echo fine\n  - name: test\n    run: 'case $PWD in *agent*) ${inner} ;; esac'\n`;
  const scene = new Scene(`---\nbounds:\n  gate_slots: 1\ngates:\n${gates}---\n`);
  scenes.push(scene);
  await scene.start("1. One\n");
  await scene.minion(["next"]);
  const worker = await scene.agent("r1/1.1");
  await worker.begin();
  worker.edit({ "src/one.txt": "1" });
  expect((await runGate(worker)).json.gates).toMatchObject([{ gate: "test", result: "pass" }]);
  const again = (await worker.minion(["gate", "lint", "--json"])).json;
  expect(again.gates).toMatchObject([{ gate: "lint", result: "pass", reused: true }]);
});

test("where nobody can queue up, gates run as they come", async () => {
  const run = await begun(2);
  rmSync(queueOf(run.scene), { recursive: true });
  writeFileSync(queueOf(run.scene), "a file");
  writeFileSync(run.stop, "");
  const calls = run.all.map(runGate);
  await until(() => run.said().length === 2);
  rmSync(run.stop);
  expect((await Promise.all(calls)).map(({ code }) => code)).toEqual([0, 0]);
});

test("what runs out of time is ended with all that it started, and one that left the group is not waited for", async () => {
  // `setsid` puts what it starts out of reach: no group holds it any more. It has the gate's output
  // open.
  const alive = "while sleep 0.1; do date +%N >";
  const group = `sh -c '${alive} "$0"; done' "$PWD/../../../../group" &`;
  const away = `setsid sh -c '${alive} "$0"; test -e "$0.end" && exit; done' "$PWD/../../../../away" &`;
  const run = await begun(1, {
    timeout: 2,
    gate: `case $PWD in *agent*) ${group} ${away} wait ;; esac`,
  });
  const [worker] = run.all;
  const answer = await runGate(worker);
  expect(answer.json.gates).toMatchObject([
    { result: "fail", hint: expect.stringContaining("ran out of time") },
  ]);
  const read = (name: string): string => readFileSync(join(run.scene.home, name), "utf8");
  const group1 = read("group");
  const away1 = read("away");
  await until(() => read("away") !== away1);
  await sleep(300);
  expect(read("group")).toBe(group1);
  mkdirSync(join(run.scene.home, "away.end"));
});

test("each has a number and ports that nothing else has meanwhile, CI is set, and nobody can be asked", async () => {
  const facts = "$CI $MINION_SLOT $PORT $MINION_PORT $MINION_PORT_LAST";
  const gate = `{ echo "${facts}" "$( (: < /dev/tty) 2>/dev/null && echo tty || test -t 0 && echo in)"; } >> "$OUT"`;
  const folder = mkdtempSync(join(tmpdir(), "minion-slots-"));
  const out = join(folder, "facts");
  const run = await begun(3, { slots: 2, gate: gate.replace("$OUT", out) });
  rmSync(out);
  const calls = await inTurn(run, run.all);
  rmSync(run.stop);
  for (const call of calls) expect((await call).code).toBe(0);
  const lines = readFileSync(out, "utf8").trim().split("\n");
  expect(lines.sort()).toHaveLength(3);
  const [first, , third] = lines.map((line) => line.trim().split(" "));
  expect(first).toEqual(["1", "1", "20020", "20020", "20039"]);
  expect(third).toEqual(["1", "2", "20040", "20040", "20059"]);
  rmSync(folder, { recursive: true });
});
