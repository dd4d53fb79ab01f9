// What a plan costs, and how good the order is in which a run dispatches.
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { against, median, timed } from "./times.mjs";

const ROUNDS = 9;
const GRAPHS = 1000;
const here = dirname(fileURLToPath(import.meta.url));

/** The modules that make a plan, as they are, and what the benches take from graphs and from the
 * tests. */
async function load(folder) {
  const outfile = join(folder, "plan.mjs");
  const modules = ["plan", "graph", "conflicts", "schedule"].map(
    (name) => `../../rails/plan/${name}.ts`,
  );
  const all = [...modules, "../../tests/unit/plan/random.ts", "./graphs.mjs"];
  const contents = all.map((path) => `export * from "${path}";`).join("\n");
  const banner = {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  };
  const stdin = { contents, resolveDir: here };
  await build({
    stdin,
    outfile,
    banner,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "warning",
  });
  return import(pathToFileURL(outfile));
}

/** A large list against a file of JSON of the same size. */
export async function plan(folder) {
  const { makePlan, listOf } = await load(folder);
  const list = join(folder, "list.md");
  const json = join(folder, "list.json");
  const text = listOf(1000);
  const rows = Array.from({ length: 1000 }, (_, id) => ({
    id,
    title: "x".repeat(text.length / 1000 - 30),
  }));
  await Promise.all([writeFile(list, text), writeFile(json, JSON.stringify(rows))]);
  const ours = async () => makePlan(await readFile(list, "utf8"), list);
  const what = "plan of 1,000 tasks, 3,000 edges, 5,000 paths";
  return against(
    [what, ours],
    ["read and JSON.parse as much", async () => JSON.parse(await readFile(json, "utf8"))],
    ROUNDS,
  );
}

/** How time grows with the list: what follows from dependencies and paths, and all of a plan, by n
 * log n. */
export async function growth(folder) {
  const { makePlan, readGraph, findConflicts, listOf } = await load(folder);
  const kinds = {
    "waves and conflicts": ({ tasks }) => findConflicts(tasks, readGraph(tasks).ordered),
    "whole plan": ({ text }) => makePlan(text, "list"),
  };
  const sizes = [100, 1000, 10_000].map((size) => {
    const text = listOf(size);
    return { size, text, tasks: makePlan(text, "list").tasks };
  });
  const rows = [];
  for (const [kind, work] of Object.entries(kinds)) {
    const times = [];
    for (const { size, ...list } of sizes) {
      const found = [];
      for (let round = 0; round < (size < 10_000 ? ROUNDS : 3); round++)
        found.push(await timed(() => work(list)));
      times.push(median(found) / (size * Math.log(size)));
    }
    for (const [index, size] of ["1,000", "10,000"].entries())
      rows.push([
        `${kind}, 100 to ${size} tasks by n log n`,
        (times[index + 1] / times[0]).toFixed(2),
      ]);
  }
  return rows;
}

/** Makespans by the least that any order takes, means: by our order where durations are known, are
 * guessed (from half to half as much again), where none is known, and where all are equal, so that
 * the least is a whole number; the longest chain first, and strict waves. The bound of conflicts
 * alone takes no account of two tasks that are in order when it looks for the heaviest set of which
 * no two may run at once, so it may be less than any order takes; the last row says by how much. */
export async function makespan(folder) {
  const library = await load(folder);
  const many = (graphOf) => Array.from({ length: GRAPHS }, (_, seed) => graphOf(seed));
  const groups = {
    [`${GRAPHS} random graphs`]: many(library.randomGraph),
    [`${GRAPHS} crowded lists`]: many(library.crowdedGraph),
    "10 shapes": library.shapedGraphs(),
  };
  return Object.entries(groups).flatMap(([name, graphs]) => {
    const all = graphs.map((graph, seed) => ratiosOf(library, graph, seed));
    return Object.keys(all[0]).map((kind) => {
      const numbers = all.map((each) => each[kind]);
      const mean = numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
      return [`${name}, ${kind}`, `${mean.toFixed(3)}, at most ${Math.max(...numbers).toFixed(2)}`];
    });
  });
}

function ratiosOf(library, graph, seed) {
  const { readGraph, findConflicts, rivalsOf, simulate, prioritise, lowerBound, random } = library;
  const { tasks, workers } = graph;
  const { ordered, waves } = readGraph(tasks);
  const pairs = findConflicts(tasks, ordered).map((conflict) => conflict.tasks);
  const rivals = rivalsOf(pairs);
  const isRival = (one, other) => rivals.get(tasks[one].id)?.includes(tasks[other].id) ?? false;
  const isApart = (one, other) => isRival(one, other) || ordered(tasks[one].id, tasks[other].id);
  const next = random(seed);
  const as = (minutes) => tasks.map((task) => ({ ...task, minutes: minutes(task) }));
  const equal = as(() => 1);
  const ran = (jobs, assumed) =>
    simulate(jobs, rivals, workers, prioritise(assumed, rivals, workers)).makespan;
  const chains = new Map();
  for (const { id, depends, minutes } of tasks.toReversed())
    for (const one of [id, ...depends])
      chains.set(
        one,
        Math.max(
          chains.get(one) ?? 0,
          one === id ? (chains.get(id) ?? 0) + minutes : chains.get(id),
        ),
      );
  const strict = waves.map((ids) => {
    const jobs = tasks.filter(({ id }) => ids.includes(id));
    return simulate(jobs, rivals, workers, prioritise(jobs, rivals, workers)).makespan;
  });
  const least = lowerBound(graph, isApart);
  return {
    "durations known": ran(tasks, tasks) / least,
    "durations guessed":
      ran(
        tasks,
        as(({ minutes }) => minutes * (0.5 + next())),
      ) / least,
    "durations not known": ran(tasks, equal) / least,
    "durations equal":
      ran(equal, equal) / Math.ceil(lowerBound({ tasks: equal, workers }, isApart) - 1e-9),
    "longest chain first, known": simulate(tasks, rivals, workers, chains).makespan / least,
    "strict waves, known": strict.reduce((sum, minutes) => sum + minutes, 0) / least,
    "known, by the bound of conflicts alone": ran(tasks, tasks) / lowerBound(graph, isRival),
    "that bound, by ours": lowerBound(graph, isRival) / least,
  };
}
