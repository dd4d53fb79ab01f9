import { spawn } from "node:child_process";

export const median = (numbers) =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** Runs a program to its end, with a text on stdin. @returns what it printed @throws where its exit
 * code is not 0 */
export function run(file, args, { cwd, env = process.env, input = "" } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd, env });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk) => (stdout += chunk));
    child.stderr.on("data", (chunk) => (stderr += chunk));
    child.stdin.on("error", () => {}); // it may end without reading
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0
        ? resolve(stdout)
        : reject(new Error(`${file} ${args.join(" ")}: ${code}\n${stdout}${stderr}`)),
    );
    child.stdin.end(input);
  });
}

export async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Three rows: how long two things take, by turns so that both meet the same machine, and the
 * ratio; medians. */
export async function against([what, work], [other, bare], rounds) {
  const times = { work: [], bare: [] };
  for (let round = 0; round < rounds; round++) {
    times.bare.push(await timed(bare));
    times.work.push(await timed(work));
  }
  return rowsOf([what, median(times.work)], [other, median(times.bare)]);
}

export const rowsOf = ([what, ms], [other, bare]) => [
  [other, `${bare.toFixed(1)} ms`],
  [what, `${ms.toFixed(1)} ms`],
  [`${what}, ratio`, (ms / bare).toFixed(2)],
];
