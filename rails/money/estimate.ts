import { type Effort, effortIn, type Span } from "../journal/phases.ts";
import { type Estimate, type Spread, TOKENS, type Tokens } from "../journal/shapes.ts";
import type { RunState } from "../journal/state.ts";
import { jobsOf, prioritise, rivalsOf, simulate } from "../plan/schedule.ts";
import type { Plan } from "../plan/task.ts";
import { dollarsFor, type Price, type Prices, priceOf, type Worker } from "./prices.ts";

/** Tokens of one dispatch, and in words where that comes from. */
type TokensKnown = Tokens<Spread> & Readonly<{ basis: string }>;

/** Per attempt in earlier runs, and in words how many those were; tokens where the transcripts were
 * there. */
export type Experience = Readonly<{ minutes: Spread; basis: string; tokens: TokensKnown | null }>;

/** What of a plan says how long it takes. */
type Planned = Pick<Plan, "tasks" | "conflicts" | "waves">;

/** A task with how often it is dispatched, and what its model costs. */
type Dispatched = Readonly<{
  id: string;
  effort: Effort;
  model: string;
  price: Price | undefined;
}>;

/** Of a task that one worker does. */
const ONE: Effort = {
  workers: { low: 1, likely: 1, high: 1 },
  turns: { low: 1, likely: 1, high: 1 },
};

/** What a list takes until all of it is handed in, without landing and failed attempts. Null where
 * nothing can start.
 *
 * Time is the run played through with every task low, likely and high at once: what makes one slow
 * makes all slow. The upper end is what the rounds allow at most.
 * @param experience stands in for what is assumed
 * @param effortOf what a task takes
 * @returns minutes, `oneByOne` with one worker, `each` of one dispatch; dollars, null where a model
 *   is `unpriced`; likely tokens, those read from the cache among them; `basis` of the minutes and
 *   `tokenBasis`; `perTask` what is likely, in order of dispatch */
export function estimate(
  plan: Planned,
  workers: number,
  prices: Prices,
  experience: Experience | null,
  effortOf: (id: string) => Effort = () => ONE,
): Estimate | null {
  if (plan.waves.length === 0) return null;
  const { minutes, basis } = experience ?? { minutes: prices.worker.minutes, basis: "defaults" };
  const used = experience?.tokens ?? assumed(prices.worker);
  const { makespan, order } = played(plan, workers, (id) => effortOf(id).turns);
  const models = new Map(plan.tasks.map(({ id, model }) => [id, model]));
  const all = order.map((id): Dispatched => {
    const model = models.get(id) ?? "";
    return { id, effort: effortOf(id), model, price: priceOf(prices.models, model) };
  });
  const total = all.reduce((sum, { effort }) => sum + effort.workers.likely, 0);
  const unpriced = new Set(all.filter(({ price }) => !price).map(({ model }) => model));
  const price = priceOf(prices.models, "");
  const one = { id: "", effort: ONE, model: "", price };
  return {
    workers,
    basis,
    tokenBasis: used.basis,
    unpriced: [...unpriced],
    minutes: spread((at) => makespan[at] * minutes[at]),
    each: minutes,
    oneByOne: rounded(total * minutes.likely),
    dollars: unpriced.size > 0 ? null : spread((at) => dollarsOfAll(all, used, at)),
    perWorker: price ? spread((at) => dollarsOf(one, used, at)) : null,
    tokens: total * TOKENS.reduce((sum, kind) => sum + used[kind].likely, 0),
    perTask: all.map((task) => ({
      id: task.id,
      minutes: rounded(task.effort.turns.likely * minutes.likely),
      dollars: task.price ? rounded(dollarsOf(task, used, "likely")) : null,
    })),
  };
}

/** The run played through. Time is counted in dispatches: each takes the same minutes, so that
 * these only stretch the schedule.
 * @returns the time of all, and the tasks in order of dispatch, as is likely */
function played(
  { tasks, conflicts }: Planned,
  workers: number,
  turns: (id: string) => Span,
): { makespan: Spread; order: string[] } {
  const rivals = rivalsOf(conflicts.map((conflict) => conflict.tasks));
  const play = (at: keyof Spread) => {
    const jobs = jobsOf(tasks, (id) => turns(id)[at]);
    return simulate(jobs, rivals, workers, prioritise(jobs, rivals, workers));
  };
  const likely = play("likely");
  const isSame = tasks.every(({ id }) => turns(id).low === turns(id).high);
  const [low, high] = isSame ? [likely, likely] : [play("low"), play("high")];
  return {
    makespan: { low: low.makespan, likely: likely.makespan, high: high.makespan },
    order: [...likely.starts.keys()],
  };
}

/** What all dispatches of a task cost; 0 without a price. */
function dollarsOf({ price, effort }: Dispatched, used: TokensKnown, at: keyof Spread): number {
  const each = tokens((kind) => used[kind][at]);
  return effort.workers[at] * (dollarsFor(price, each) ?? 0);
}

const dollarsOfAll = (all: readonly Dispatched[], used: TokensKnown, at: keyof Spread): number =>
  all.reduce((sum, task) => sum + dollarsOf(task, used, at), 0);

const spread = (value: (at: keyof Spread) => number): Spread => ({
  low: rounded(value("low")),
  likely: rounded(value("likely")),
  high: rounded(value("high")),
});

/** Something for each kind of tokens. */
export const tokens = <T>(of: (kind: (typeof TOKENS)[number]) => T): Tokens<T> =>
  Object.fromEntries(TOKENS.map((kind) => [kind, of(kind)])) as Tokens<T>;

/** Per dispatch: the context is written to the cache once and read from it at each turn; fresh
 * input and output are paid once. What the context grows by is within the spread. */
function assumed({ turns, context, fresh, output }: Worker): TokensKnown {
  const read = (at: keyof Spread): number => context[at] * turns[at];
  return {
    basis: "assumed",
    input: fresh,
    write: context,
    writeHour: { low: 0, likely: 0, high: 0 },
    read: { low: read("low"), likely: read("likely"), high: read("high") },
    output,
  };
}

/** Dollars to the cent, and minutes to as much. */
const rounded = (value: number): number => Math.round(value * 100) / 100;

/** What a run is expected to cost by now: what was expected at its start, and what was planned or
 * listed since. Null where that is not known. */
export function expectedOf({ estimate, tasks, blueprint }: RunState): Spread | null {
  const { dollars, perWorker } = estimate ?? {};
  if (!dollars) return null;
  if (!perWorker) return dollars;
  const later = [...tasks.values()].filter(({ added, each }) => added !== "" && !each);
  const efforts = later.map(({ phases }) => effortIn(phases, blueprint.bounds.workers).workers);
  return spread(
    (at) => dollars[at] + efforts.reduce((sum, own) => sum + own[at] * perWorker[at], 0),
  );
}

/** How much of an estimate with prices for all that many dollars are likely to pay for.
 * @returns the ids of the tasks that they pay for, and of those that are left, in order of dispatch
 */
export function fitting(
  { perTask }: Estimate,
  dollars: number,
): { dollars: number; fits: string[]; left: string[] } {
  let spent = 0;
  const paid = perTask.filter((task) => {
    spent += task.dollars ?? 0;
    return spent <= dollars + 1e-9; // Sums of cents are not exact
  });
  const ids = perTask.map(({ id }) => id);
  return { dollars, fits: ids.slice(0, paid.length), left: ids.slice(paid.length) };
}
