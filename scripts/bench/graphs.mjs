// Graphs of tasks for the benches, the same for the same seed.
import { random } from "../../tests/unit/plan/random.ts";

/** Minutes as tasks take them: log-normal, median 5, two of three between 2.7 and 9.1. */
function minutesOf(next) {
  const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  return 5 * Math.exp(0.6 * normal);
}

/** A list as there are. Its numbers are those of 123 task lists of 40 public repositories, as our
 * own reader reads them where it knows their form, and were set before any makespan on it was
 * known; in parentheses what the lists have.
 * - 6 to 68 tasks, short lists more often; mean 25 (10 to 90 % of lists: 6 to 68; mean 25).
 * - 4 of 10 name no dependencies (34 of the 86 lists without spec-kit's, whose phases put 97 % of
 * all pairs in order).
 * - Else 89 of 100 tasks depend on an earlier one, with 0.35 on the average of graphs on one more,
 * and so on: 1.2 a task (0.7 to 1.9, mean 1.2), a third of them the task just before. Lists of 5 to
 * 14 tasks are 2.0 wide (1.7), lists of 15 to 45 tasks 3.3 (3.1): tasks by waves, mean.
 * - 84 of 100 tasks name a file, a quarter of these one more, and so on: 1.2 a task (0.8 to 2.3,
 * mean 1.4; 94 lists of 23 repositories that name files in most tasks).
 * - 22 of 100 mentions are of a file that was named before, four of five of them in a task that
 * this one depends on. Of all pairs 0.04 name the same file (0 to 0.14, mean 0.06). Where there are
 * dependencies 0.013 of all pairs are in conflict and not in order (0.012), which leaves 0.72 of
 * those with the same file in order (0.81). No list says how many workers: 2 to 8. */
export function randomGraph(seed) {
  const next = random(seed);
  const from = (least, most) => least + Math.floor(next() * (most - least + 1));
  const size = Math.round(6 * (68 / 6) ** next());
  const workers = from(2, 8);
  const isOrdered = next() < 0.6;
  const [near, further, more, again] = [0.5, 0.7, 0.5, 0.44].map((most) => next() * most);
  const tasks = [];
  for (let index = 0; index < size; index++) {
    const depends = new Set();
    if (isOrdered && index > 0 && next() < 0.89)
      do depends.add(next() < near ? index - 1 : from(0, index - 1));
      while (next() < further);
    const files = new Set();
    if (next() < 0.84)
      do {
        const source =
          depends.size > 0 && next() < 0.8
            ? [...depends][from(0, depends.size - 1)]
            : from(0, index - 1);
        const known = index > 0 && next() < again ? tasks[source].files : [];
        files.add(
          known.length > 0 ? known[from(0, known.length - 1)].path : `f${index}-${files.size}`,
        );
      } while (next() < more);
    tasks.push(taskOf(next, index, [...depends], [...files]));
  }
  return { tasks, workers };
}

/** Far more conflicts than lists have: a fifth of all pairs are in conflict and not in order. 5 to
 * 60 tasks for 2 to 8 workers. Each depends on up to four earlier ones, two at most on the average
 * of a graph; each names one to four files of a pool of half to three times as many files as tasks,
 * of which the first are named the more often the higher a graph's skew is (1 to 3: up to a fifth
 * of all on a hundredth of the files). */
export function crowdedGraph(seed) {
  const next = random(seed);
  const from = (least, most) => least + Math.floor(next() * (most - least + 1));
  const size = from(5, 60);
  const workers = from(2, 8);
  const degree = next() * 2;
  const skew = 1 + next() * 2;
  const pool = Math.max(1, Math.round(size * (0.5 + next() * 2.5)));
  const tasks = Array.from({ length: size }, (_, index) => {
    const depends = new Set();
    for (let n = 0; n < 4; n++)
      if (index > 0 && next() < degree / 4) depends.add(String(from(0, index - 1)));
    const files = new Set();
    for (let n = from(1, 4); n > 0; n--) files.add(`f${Math.floor(pool * next() ** skew)}`);
    return taskOf(next, index, [...depends], [...files]);
  });
  return { tasks, workers };
}

const taskOf = (next, index, depends, files) => ({
  id: String(index),
  depends: depends.map(String),
  done: false,
  line: index + 1,
  minutes: minutesOf(next),
  files: files.map((path) => ({ path, guessed: false })),
});

const upTo = (length) => Array.from({ length }, (_, index) => index);

/** One task, nine after it, one after these, ten after that, and one after those. */
function fannedTwice(n) {
  if (n === 0) return [];
  if (n <= 9) return [0];
  if (n === 10) return upTo(10).slice(1);
  return n <= 20 ? [10] : upTo(21).slice(11);
}

/** Shapes that lists have, each as what every task depends on and which files it names. */
const SHAPES = {
  "a diamond": [
    [[], ["core"]],
    ...upTo(4).map((n) => [[0], [`part${n}`]]),
    [[1, 2, 3, 4], ["index"]],
  ],
  "six items through four stages": upTo(24).map((n) => [
    n % 4 ? [n - 1] : [],
    [`item${Math.floor(n / 4)}-${n % 4}`],
  ]),
  "fan out and in, twice": upTo(22).map((n) => [fannedTwice(n), [`file${n}`]]),
  "four layers of six": upTo(24).map((n) => [
    n < 6 ? [] : [n - 6, n - 6 - (n % 6) + ((n + 1) % 6)],
    [`file${n}`],
  ]),
  "half of them on one manifest": upTo(20).map((n) => [
    [],
    [`src${n}`, ...(n % 2 ? ["package.json"] : [])],
  ]),
  "two packages, a barrel each": upTo(24).map((n) => [
    n < 4 ? [] : [n - 4],
    [`p${n % 2}/f${n}`, ...(n % 3 ? [] : [`p${n % 2}/index`])],
  ]),
  "a chain of migrations beside other work": upTo(24).map((n) =>
    n < 8 ? [n ? [n - 1] : [], ["migrations"]] : [n % 4 ? [] : [n - 8], [`src${n}`]],
  ),
  "thirty on their own": upTo(30).map((n) => [[], [`src${n}`]]),
  "eight features: interface, page, test, changelog": upTo(32).map((n) => [
    n % 4 === 0 ? [] : [n - 1],
    [["routes", `page${n}`, `test${n}`, "CHANGELOG.md"][n % 4], `src${n}`],
  ]),
  "a refactoring, then callers by folder": upTo(25).map((n) => [
    n === 0 ? [] : n <= 18 ? [0] : [1 + ((n * 5) % 18), 1 + ((n * 7) % 18)],
    n === 0 ? ["core"] : [`folder${n % 5}`, `caller${n}`],
  ]),
};

export const shapedGraphs = () =>
  Object.entries(SHAPES).map(([name, shape], seed) => {
    const next = random(seed);
    return {
      name,
      tasks: shape.map(([depends, files], index) => taskOf(next, index, depends, files)),
      workers: 4,
    };
  });

/** The least that any order takes, in minutes: the longest of the critical path, work by workers,
 * and the heaviest set of which no two may run at once.
 * @param isApart may two tasks, by index, never run at once? */
export function lowerBound({ tasks, workers }, isApart) {
  const chains = new Map();
  for (const { id, depends, minutes } of tasks)
    chains.set(id, minutes + Math.max(0, ...depends.map((one) => chains.get(one))));
  const work = tasks.reduce((sum, { minutes }) => sum + minutes, 0);
  return Math.max(...chains.values(), work / workers, heaviestClique(tasks, isApart));
}

/** Branch and bound; where that takes too many steps the heaviest that was found, which is a bound
 * as well. */
function heaviestClique(tasks, isApart) {
  let best = 0;
  let steps = 0;
  const grow = (candidates, weight) => {
    best = Math.max(best, weight);
    let rest = candidates.reduce((sum, one) => sum + tasks[one].minutes, 0);
    for (const [index, one] of candidates.entries()) {
      if (weight + rest <= best || ++steps > 20_000) return;
      const more = candidates.slice(index + 1).filter((other) => isApart(one, other));
      grow(more, weight + tasks[one].minutes);
      rest -= tasks[one].minutes;
    }
  };
  const byWeight = [...tasks.keys()].sort((a, b) => tasks[b].minutes - tasks[a].minutes);
  grow(byWeight, 0);
  return best;
}

/** A list as a person may write it: so many tasks, three times as many dependencies, five times as
 * many paths, of which one in a hundred begins with a wildcard and one in fifty ends with one;
 * about as many conflicts as tasks. */
export function listOf(size) {
  const next = random(size);
  const below = (most) => Math.floor(next() * most);
  const path = () => {
    const folder = `packages/p${below(size / 4)}/src/m${below(20)}`;
    const kind = next();
    if (kind < 0.01) return `*/${folder}.ts`;
    if (kind < 0.03) return `${folder}/**/*.ts`;
    return `${folder}/f${below(30)}.ts`;
  };
  const tasks = upTo(size).map((index) => {
    const depends = new Set(index > 3 ? upTo(3).map(() => below(index) + 1) : []);
    const files = upTo(5).map(path);
    const number = index + 1;
    return [
      `### Task ${number}: Do what number ${number} says`,
      `Depends: ${[...depends].join(", ") || "none"}`,
      `Files: ${files.join(", ")}`,
      "",
      "In a sentence or two that say what is wanted.",
      "",
    ].join("\n");
  });
  return tasks.join("\n");
}
