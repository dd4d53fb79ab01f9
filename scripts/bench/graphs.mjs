// Graphs of tasks for the benches, the same for the same seed.

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Minutes as tasks take them: log-normal, median 5, two of three between 2.7 and 9.1. */
function minutesOf(next) {
  const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  return 5 * Math.exp(0.6 * normal);
}

/** 5 to 60 tasks for 2 to 8 workers. Each depends on up to four earlier ones, two at most on the average of a graph; each
 * names one to four files of a pool of half to three times as many files as tasks, of which the first are named the more
 * often the higher a graph's skew is (1 to 3: up to a fifth of all on a hundredth of the files). */
export function randomGraph(seed) {
  const next = random(seed);
  const from = (least, most) => least + Math.floor(next() * (most - least + 1));
  const [size, workers, degree, skew] = [from(5, 60), from(2, 8), next() * 2, 1 + next() * 2];
  const pool = Math.max(1, Math.round(size * (0.5 + next() * 2.5)));
  const tasks = Array.from({ length: size }, (_, index) => {
    const depends = new Set();
    for (let n = 0; n < 4; n++) if (index > 0 && next() < degree / 4) depends.add(String(from(0, index - 1)));
    const files = new Set();
    for (let n = from(1, 4); n > 0; n--) files.add(`f${Math.floor(pool * next() ** skew)}`);
    return { id: String(index), depends: [...depends], files: [...files], minutes: minutesOf(next) };
  });
  return { tasks, workers };
}
