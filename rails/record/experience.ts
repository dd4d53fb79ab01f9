import { type Experience, type Spread, TOKENS, type Tokens } from "../plan/estimate.ts";
import { Journal, listRuns } from "./journal.ts";
import type { RunState } from "./state.ts";
import type { Usage } from "./usage.ts";

/** Of older runs the code was another. */
const RUNS = 20;
/** Quartiles of fewer attempts say nothing. */
const LEAST = 4;

/** What the last runs of a repository tell of the next one; null where that is too little. */
export async function experienceOf(common: string): Promise<Experience | null> {
  const names = (await listRuns(common)).slice(-RUNS);
  // A run that cannot be read tells nothing.
  const states = await Promise.all(names.map((name) => new Journal(common, name).state().catch(() => null)));
  const runs = states.map((state) => (state ? landedIn(state) : [])).filter(({ length }) => length > 0);
  const all = runs.flat();
  if (all.length < LEAST) return null;
  const spent = all.flatMap(({ tokens }) => tokens ?? []);
  const spreads = TOKENS.map((kind) => [kind, quartiles(spent.map((each) => each[kind]))]);
  const tokens = { ...(Object.fromEntries(spreads) as Tokens), basis: `${spent.length} attempts` };
  const basis = `${all.length} attempts of ${runs.length} run${runs.length === 1 ? "" : "s"}`;
  const minutes = quartiles(all.map((each) => each.minutes));
  return { minutes, basis, tokens: spent.length < LEAST ? null : tokens };
}

function quartiles(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
  return { low: at(0.25), likely: at(0.5), high: at(0.75) };
}

/** A cache write that lasts an hour costs so many that last five minutes: twice the input against a quarter more. */
const HOUR = 2 / 1.25;

/** What each attempt that landed took, from its worker's beginning to handing in: what failed, was lost or found nothing to
 * do says nothing of the work, and what a person handed in nothing of a worker. */
function landedIn({ landings, attempts, spent }: RunState) {
  const used = new Map([...spent.values()].map(({ attempt, usage }) => [attempt, usage]));
  return landings.flatMap((landing) =>
    landing.attempts.flatMap((id) => {
      const { begun, submitted } = attempts.get(id) ?? {};
      if (!begun || !submitted || submitted.byHand) return [];
      const sum = (of: (one: Usage) => number) => used.get(id)?.reduce((all, one) => all + of(one), 0) ?? 0;
      const write = sum(({ write, writeHour }) => write + HOUR * writeHour);
      const tokens = { write, read: sum(({ read }) => read), fresh: sum(({ input }) => input) };
      const output = sum((one) => one.output);
      return { minutes: (submitted.at - begun.at) / 60_000, tokens: used.has(id) ? { ...tokens, output } : null };
    }),
  );
}
