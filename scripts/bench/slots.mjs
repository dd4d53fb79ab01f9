// What twenty tasks take, sixteen at once, worked on by processes that do what a worker does, and
// led by one that does what a foreman does. Minutes: only run where it is asked for by name.
import { mkdir, writeFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HANDOFF, repository } from "./repository.mjs";
import { median, timed } from "./times.mjs";

const TASKS = 20;
const WORKERS = 16;
const SECONDS = 5;
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
const load = () => ["load before", loadavg()[0].toFixed(1)];

/** Gates that need a core for five seconds each, with a cap on how many run at once (from the
 * cores) and without. */
export async function slots(folder) {
  const gate = `node -e "while (process.cpuUsage().user < ${SECONDS}e6);"`;
  const rows = [];
  const runs = [];
  for (const [name, slots] of [
    ["from the cores", 0],
    ["no cap", WORKERS],
  ]) {
    rows.push(load());
    const { ms, waits, ran } = await lead(join(folder, String(slots)), { gate, slots, think: 0 });
    const run = { makespan: ms, "worst wait": Math.max(...waits), "median wait": median(waits) };
    runs.push(run);
    rows.push(...Object.entries(run).map(([what, ms]) => [`${name}: ${what}`, seconds(ms)]));
    rows.push([`${name}: runs of the gate`, ran]);
  }
  const [capped, free] = runs;
  return [
    ...rows,
    ...Object.keys(free).map((what) => [`${what}, ratio`, (capped[what] / free[what]).toFixed(2)]),
  ];
}

/** Workers that think for five seconds, with a gate that does nothing, against the least that any
 * order takes. */
export async function thinking(folder) {
  const { ms } = await lead(folder, { gate: "true", slots: 0, think: SECONDS * 1000 });
  const least = Math.ceil(TASKS / WORKERS) * SECONDS * 1000;
  return [
    load(),
    ["critical path", seconds(least)],
    ["run with workers that think", seconds(ms)],
    ["run against critical path, ratio", (ms / least).toFixed(2)],
  ];
}

/** Leads a run to its end.
 * @returns how long it took, how long each worker waited for its gate, and how often the gate ran
 */
async function lead(folder, { gate, slots, think }) {
  await mkdir(folder, { recursive: true });
  const at = await repository(folder, TASKS, gate, `  gate_slots: ${slots}\n`);
  const waits = [];
  const busy = new Set();
  const started = new Set(); // What has not begun yet is named again
  let ended = 0;
  let worktrees = Promise.resolve(); // Made one after another, as the client does
  const work = async ({ attempt, task }) => {
    const path = join(at.repo, ".claude/worktrees", `agent-${task}`);
    const add = ["worktree", "add", "--quiet", "-b", `worktree-agent-${task}`, path];
    worktrees = worktrees.then(() => at.git(add));
    await worktrees;
    const minion = (args, input) => at.minion(args, { cwd: path, input });
    await minion(["begin", attempt, "--wait", "600"]);
    await sleep(think);
    await writeFile(join(path, `${task}.txt`), "done\n");
    waits.push(await timed(() => minion(["gate", "--all", "--wait", "600"])));
    await at.git(["add", "."], { cwd: path });
    await at.git(["commit", "--quiet", "-m", `feat: task ${task}`], { cwd: path });
    await minion(["submit"], HANDOFF);
  };
  const ms = await timed(async () => {
    for (;;) {
      const before = ended;
      const { done, dispatch, attention } = JSON.parse(
        await at.minion(["next", "--wait", "600", "--json"]),
      );
      if (attention.length > 0) throw new Error(JSON.stringify(attention));
      if (done) return;
      for (const each of dispatch.filter(({ attempt }) => !started.has(attempt))) {
        started.add(each.attempt);
        const worker = work(each).finally(() => {
          ended++;
          busy.delete(worker);
        });
        busy.add(worker);
      }
      if (ended === before && busy.size > 0) await Promise.race(busy);
    }
  });
  const { events } = JSON.parse(await at.minion(["events", "--json"]));
  return { ms, waits, ran: events.filter(({ event }) => event === "evidence").length };
}
