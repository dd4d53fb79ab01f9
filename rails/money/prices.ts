import type { Spread, Tokens } from "../journal/shapes.ts";

/** What is assumed of one dispatch: minutes, requests to the model, and tokens: the context that is
 * worked in, input that no cache holds, and output. */
export const WORKER = ["minutes", "turns", "context", "fresh", "output"] as const;
export type Worker = Readonly<Record<(typeof WORKER)[number], Spread>>;

/** Dollars per million tokens. */
export type Price = Readonly<{
  input: number;
  cacheWrite: number;
  cacheRead: number;
  output: number;
}>;

/** By the model's name in lower case; `default`: of a task that names none. */
export type Prices = Readonly<{ models: ReadonlyMap<string, Price>; worker: Worker }>;

/** `Opus[1m]`, `claude-haiku-4-5-20251001` and `inherit` as the table of prices names them. */
const modelName = (model: string): string =>
  model
    .toLowerCase()
    .replace(/\[.*|-\d{8}$/g, "")
    .replace("inherit", "") || "default";

/** The price of a model, by any of its names; undefined where the table has none. */
export const priceOf = (models: Prices["models"], model: string): Price | undefined =>
  models.get(modelName(model));

/** What tokens cost in dollars, null without a price. A cache write that lasts an hour costs twice
 * the input: https://platform.claude.com/docs/en/build-with-claude/prompt-caching */
export function dollarsFor(price: Price | undefined, used: Tokens): number | null {
  if (!price) return null;
  const millionths =
    (used.input + 2 * used.writeHour) * price.input +
    used.write * price.cacheWrite +
    used.read * price.cacheRead +
    used.output * price.output;
  return millionths / 1e6;
}
