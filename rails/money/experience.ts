import { Journal, listRuns } from "../journal/journal.ts";
import type { Spread } from "../journal/shapes.ts";
import type { RunState } from "../journal/state.ts";
import { type Experience, tokens } from "./estimate.ts";
import { plus } from "./usage.ts";

/** Of older runs the code was another. */
const RUNS = 20;
/** Quartiles of fewer attempts say nothing. */
const LEAST = 4;

/** What the last runs of a repository tell of the next one; null where that is too little. */
export async function experienceOf(common: string): Promise<Experience | null> {
  const names = (await listRuns(common)).slice(-RUNS);
  // A run that cannot be read tells nothing.
  const states = await Promise.all(
    names.map((name) => new Journal(common, name).state().catch(() => null)),
  );
  const runs = states
    .map((state) => (state ? landedIn(state) : []))
    .filter(({ length }) => length > 0);
  const all = runs.flat();
  if (all.length < LEAST) return null;
  const spent = all.flatMap(({ used }) => used ?? []);
  const ofEach = tokens((kind) => quartiles(spent.map((each) => each[kind])));
  const basis = `${all.length} attempts of ${runs.length} run${runs.length === 1 ? "" : "s"}`;
  const minutes = quartiles(all.map((each) => each.minutes));
  return {
    minutes,
    basis,
    tokens: spent.length < LEAST ? null : { ...ofEach, basis: `${spent.length} attempts` },
  };
}

function quartiles(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
  return { low: at(0.25), likely: at(0.5), high: at(0.75) };
}

/** What each attempt that landed took, from its worker's beginning to handing in: what failed, was
 * lost or found nothing to do says nothing of the work, and what a person handed in nothing of a
 * worker. */
function landedIn({ landings, attempts, spent }: RunState) {
  const used = new Map([...spent.values()].map(({ attempt, usage }) => [attempt, usage]));
  return landings.flatMap((landing) =>
    landing.attempts.flatMap((id) => {
      const { begun, submitted } = attempts.get(id) ?? {};
      if (!begun || !submitted || submitted.byHand) return [];
      const usage = used.get(id)?.reduce((all, one) => plus(one, all));
      return { minutes: (submitted.at - begun.at) / 60_000, used: usage };
    }),
  );
}
