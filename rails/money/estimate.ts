import { type Estimate, type Spread, TOKENS, type Tokens } from "../journal/shapes.ts";
import { jobsOf, prioritise, rivalsOf, simulate } from "../plan/schedule.ts";
import type { Plan } from "../plan/task.ts";
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
/** Per attempt in earlier runs, and in words how many those were; tokens where the transcripts were
 * there. */
export type Experience = Readonly<{
  minutes: Spread;
  basis: string;
  tokens: (Tokens<Spread> & { basis: string }) | null;
}>;
/** What a list takes until all of it is handed in, without landing and failed attempts. Null where
 * nothing can start.
 *
 * Time is the run played through with every task low, likely and high at once: what makes one slow
 * makes all slow.
 * @param experience stands in for what is assumed
 * @param dispatches how many a task takes
 * @returns minutes, `oneByOne` with one worker, `each` of one dispatch; dollars, null where a model
 *   is `unpriced`; likely tokens, those read from the cache among them; `basis` of the minutes and
 *   `tokenBasis`; `perTask` what is likely, in order of dispatch */
export function estimate(
  { tasks, conflicts, waves }: Pick<Plan, "tasks" | "conflicts" | "waves">,
  workers: number,
  { models, worker }: Prices,
  experience: Experience | null,
  dispatches = (_: string) => 1,
): Estimate | null {
  if (waves.length === 0) return null;
  const { minutes, basis } = experience ?? { minutes: worker.minutes, basis: "defaults" };
  const rivals = rivalsOf(conflicts.map((conflict) => conflict.tasks));
  // In dispatches: each takes the same minutes, so that these only stretch the schedule.
  const jobs = jobsOf(tasks, dispatches);
  const { makespan, starts } = simulate(jobs, rivals, workers, prioritise(jobs, rivals, workers));
  const spread = (value: (at: keyof Spread) => number) =>
    ({
      low: rounded(value("low")),
      likely: rounded(value("likely")),
      high: rounded(value("high")),
    }) satisfies Spread;
  const used = experience?.tokens ?? { ...assumed(worker), basis: "assumed" };
  const cost = (price: Price | undefined, at: keyof Spread) =>
    dollarsFor(
      price,
      tokens((kind) => used[kind][at]),
    ) ?? 0;
  const known = new Map(
    tasks.map(({ id, model }) => [id, { model, price: priceOf(models, model) }]),
  );
  const all = [...starts.keys()].map((id) => ({ id, count: dispatches(id), ...known.get(id) }));
  const total = all.reduce((sum, { count }) => sum + count, 0);
  const unpriced = [...new Set(all.flatMap(({ price, model }) => (price ? [] : (model ?? ""))))];
  const sum = (at: keyof Spread) =>
    all.reduce((sum, { price, count }) => sum + count * cost(price, at), 0);
  return {
    workers,
    basis,
    tokenBasis: used.basis,
    unpriced,
    minutes: spread((at) => makespan * minutes[at]),
    each: minutes,
    oneByOne: rounded(total * minutes.likely),
    dollars: unpriced.length > 0 ? null : spread(sum),
    tokens: total * TOKENS.reduce((all, kind) => all + used[kind].likely, 0),
    perTask: all.map(({ id, count, price }) => {
      const dollars = price ? rounded(count * cost(price, "likely")) : null;
      return { id, minutes: rounded(count * minutes.likely), dollars };
    }),
  };
}

/** Something for each kind of tokens. */
export const tokens = <T>(of: (kind: (typeof TOKENS)[number]) => T): Tokens<T> =>
  Object.fromEntries(TOKENS.map((kind) => [kind, of(kind)])) as Tokens<T>;

/** What tokens cost, null without a price. A cache write that lasts an hour costs twice the input:
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching */
export function dollarsFor(price: Price | undefined, used: Tokens): number | null {
  if (!price) return null;
  const input = (used.input + 2 * used.writeHour) * price.input;
  return (
    (input +
      used.write * price.cacheWrite +
      used.read * price.cacheRead +
      used.output * price.output) /
    1e6
  );
}

/** Per dispatch: the context is written to the cache once and read from it at each turn; fresh
 * input and output are paid once. What the context grows by is within the spread. */
function assumed({ turns, context, fresh, output }: Worker): Tokens<Spread> {
  const read = (at: keyof Spread): number => context[at] * turns[at];
  const turned = { low: read("low"), likely: read("likely"), high: read("high") };
  return {
    input: fresh,
    write: context,
    writeHour: { low: 0, likely: 0, high: 0 },
    read: turned,
    output,
  };
}

const rounded = (value: number): number => Math.round(value * 100) / 100;

/** `Opus[1m]`, `claude-haiku-4-5-20251001` and `inherit` as the table of prices names them. */
const modelName = (model: string): string =>
  model
    .toLowerCase()
    .replace(/\[.*|-\d{8}$/g, "")
    .replace("inherit", "") || "default";

/** The price of a model, by any of its names; undefined where the table has none. */
export const priceOf = (models: Prices["models"], model: string): Price | undefined =>
  models.get(modelName(model));

/** How much of an estimate with prices for all that many dollars are likely to pay for, in order of
 * dispatch. */
export function fitting({ perTask }: Estimate, dollars: number) {
  let spent = 0;
  const paid = perTask.filter((task) => {
    spent += task.dollars ?? 0;
    return spent <= dollars + 1e-9; // Sums of cents are not exact
  });
  const ids = perTask.map(({ id }) => id);
  return { dollars, fits: ids.slice(0, paid.length), left: ids.slice(paid.length) };
}
