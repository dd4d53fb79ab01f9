import type { Experience } from "../plan/estimate.ts";
import { Journal, listRuns } from "./journal.ts";
import type { RunState } from "./state.ts";

/** Of older runs the code was another. */
const RUNS = 20;
/** Quartiles of fewer attempts say nothing. */
const LEAST = 4;

/** What the last runs of a repository tell of the next one; null where that is too little. */
export async function experienceOf(common: string): Promise<Experience | null> {
  const names = (await listRuns(common)).slice(-RUNS);
  // A run that cannot be read tells nothing.
  const states = await Promise.all(names.map((name) => new Journal(common, name).state().catch(() => null)));
  const runs = states.map((state) => (state ? minutesOf(state) : [])).filter(({ length }) => length > 0);
  const all = runs.flat().sort((a, b) => a - b);
  if (all.length < LEAST) return null;
  const at = (share: number): number => all[Math.round(share * (all.length - 1))] as number;
  const basis = `${all.length} attempts of ${runs.length} run${runs.length === 1 ? "" : "s"}`;
  return { minutes: { low: at(0.25), likely: at(0.5), high: at(0.75) }, basis };
}

/** From a worker's beginning to handing in, of each attempt that landed: what failed, was lost or found nothing to do says
 * nothing of the work, and what a person handed in nothing of a worker. */
const minutesOf = ({ landings, attempts }: RunState): number[] =>
  landings.flatMap((landing) =>
    landing.attempts.flatMap((id) => {
      const { begun, submitted } = attempts.get(id) ?? {};
      return begun && submitted && !submitted.byHand ? [(submitted.at - begun.at) / 60_000] : [];
    }),
  );
