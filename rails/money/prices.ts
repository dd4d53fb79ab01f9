import { firstOf, layers } from "../blueprint/layers.ts";
import { readMarkdown } from "../blueprint/markdown.ts";
import type { Place } from "../git/repository.ts";
import { EXIT, Fault } from "../program/fault.ts";
import { type Price, type Prices, WORKER, type Worker } from "./estimate.ts";

/** Reads prices and what is assumed of a worker. Line by line: a person edits this.
 * @throws Fault `prices` with file and line of what is no row of either table, or with what is
 *   missing */
export function readPrices(text: string, file: string): Prices {
  const { body, bodyLine } = readMarkdown(text, file);
  const models = new Map<string, Price>();
  const worker = new Map<string, Worker["turns"]>();
  for (const [index, line] of body.split("\n").entries()) {
    if (!line.startsWith("|") || /^\|\s*(?:Model|Worker|:?-+:?)\s*\|/.test(line)) continue;
    const [names = "", ...cells] = (/^\|(.*)\|\s*$/.exec(line)?.[1] ?? "").split(/\s*\|\s*/);
    const numbers = cells.map((cell) =>
      /^\d[\d,]*(?:\.\d+)?$/.test(cell.trim()) ? Number(cell.replaceAll(",", "")) : NaN,
    );
    const [a = NaN, b = NaN, c = NaN, output = NaN] = numbers;
    const all = names
      .trim()
      .toLowerCase()
      .split(/\s*,\s*/);
    const isWorker = WORKER.some((name) => name === all[0]) && all.length === 1 && a <= b && b <= c;
    const isNew = all.every((name) => name !== "" && !models.has(name) && !worker.has(name));
    if (!isNew || numbers.includes(NaN) || numbers.length !== (isWorker ? 3 : 4))
      throw broken(
        `${file}:${index + bodyLine}: no new name with four prices, or with low, likely and high`,
      );
    if (isWorker) worker.set(names.trim(), { low: a, likely: b, high: c });
    else
      for (const name of all) models.set(name, { input: a, cacheWrite: b, cacheRead: c, output });
  }
  const missing = ["default", ...WORKER].filter((name) => !models.has(name) && !worker.has(name));
  if (missing.length > 0) throw broken(`${file}: there is no ${missing.join(", ")}`);
  return { models, worker: Object.fromEntries(worker) as Worker };
}

const broken = (what: string) =>
  new Fault("prices", what, "compare with the shipped prices.md", EXIT.usage);

/** @throws Fault `prices` with the line that is wrong */
export async function pricesAt(place: Place): Promise<Prices> {
  const { file, text } = await firstOf(
    await layers(place, "prices.md", "minion-blueprint/prices.md"),
  );
  return readPrices(text, file);
}
