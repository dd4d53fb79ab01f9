import { firstOf, layers } from "../blueprint/layers.ts";
import { readTables } from "../blueprint/markdown.ts";
import type { Place } from "../git/repository.ts";
import type { Spread } from "../journal/shapes.ts";
import { EXIT, Fault } from "../program/fault.ts";
import { type Price, type Prices, WORKER, type Worker } from "./prices.ts";

/** A row: the names in its first cell, and what stands in the others. */
type Row = Readonly<{ line: number; names: readonly string[]; cells: readonly string[] }>;

const HEADS = /^\|\s*(?:Model|Worker|:?-+:?)\s*\|/;
const NUMBER = /^\d[\d,]*(?:\.\d+)?$/;

/** Reads prices and what is assumed of a worker. Line by line: a person edits this.
 * @param text Markdown with two tables: names of models with four prices, and what is assumed of a
 *   worker with low, likely and high
 * @throws Fault `prices` with file and line of what is no row of either table, or with what is
 *   missing */
export function readPrices(text: string, file: string): Prices {
  const models = new Map<string, Price>();
  const worker = new Map<string, Spread>();
  const isNew = (name: string): boolean => name !== "" && !models.has(name) && !worker.has(name);
  for (const row of rowsIn(text, file)) {
    const numbers = row.cells.map(numberIn);
    const assumption = assumptionOf(row);
    const spread = assumption && spreadIn(numbers);
    const price = assumption ? null : priceIn(numbers);
    if (!row.names.every(isNew) || (!spread && !price))
      throw broken(
        `${file}:${row.line}: no new name with four prices, or with low, likely and high`,
      );
    if (assumption && spread) worker.set(assumption, spread);
    if (price) for (const name of row.names) models.set(name, price);
  }
  const missing = ["default", ...WORKER].filter(isNew);
  if (missing.length > 0) throw broken(`${file}: there is no ${missing.join(", ")}`);
  return { models, worker: Object.fromEntries(worker) as Worker };
}

/** The rows of all tables, without their heads. */
function rowsIn(text: string, file: string): Row[] {
  const { body, bodyLine } = readTables(text, file);
  const rows: Row[] = [];
  for (const [index, line] of body.split("\n").entries()) {
    if (!line.startsWith("|") || HEADS.test(line)) continue;
    const inside = /^\|(.*)\|\s*$/.exec(line)?.[1] ?? "";
    const [names = "", ...cells] = inside.split("|").map((cell) => cell.trim());
    rows.push({ line: index + bodyLine, names: names.toLowerCase().split(/\s*,\s*/), cells });
  }
  return rows;
}

/** NaN where a cell is no number. */
const numberIn = (cell: string): number =>
  NUMBER.test(cell) ? Number(cell.replaceAll(",", "")) : NaN;

/** What the row says of a worker; null for one that says something of models. */
const assumptionOf = ({ names }: Row): string | null =>
  names.length === 1 ? (WORKER.find((name) => name === names[0]) ?? null) : null;

function spreadIn(numbers: readonly number[]): Spread | null {
  const [low = NaN, likely = NaN, high = NaN] = numbers;
  return numbers.length === 3 && low <= likely && likely <= high ? { low, likely, high } : null;
}

function priceIn(numbers: readonly number[]): Price | null {
  const [input = NaN, cacheWrite = NaN, cacheRead = NaN, output = NaN] = numbers;
  if (numbers.length !== 4 || numbers.includes(NaN)) return null;
  return { input, cacheWrite, cacheRead, output };
}

const broken = (what: string): Fault =>
  new Fault("prices", what, "compare with the shipped prices.md", EXIT.usage);

/** The prices that hold at a place: the project's own, the person's, or the shipped ones.
 * @throws Fault `prices` with the line that is wrong */
export async function pricesAt(place: Place): Promise<Prices> {
  const files = await layers(place, "prices.md", "minion-blueprint/prices.md");
  const { file, text } = await firstOf(files);
  return readPrices(text, file);
}
