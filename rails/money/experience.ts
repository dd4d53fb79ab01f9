import { Journal, listRuns } from "../journal/journal.ts";
import type { Spread, Usage } from "../journal/shapes.ts";
import { type Experience, tokens } from "./estimate.ts";
import { plus } from "./usage.ts";

/** Of older runs the code was another. */
const RUNS = 20;
/** Quartiles of fewer attempts say nothing. */
const LEAST = 4;

/** What an attempt that landed took: minutes, and tokens where its transcript was there. */
type Landed = Readonly<{ minutes: number; used: Usage | undefined }>;

/** What the last runs of a repository tell of the next one; null where that is too little.
 * @param common git's common folder, in which the journals are */
export async function experienceOf(common: string): Promise<Experience | null> {
  const names = (await listRuns(common)).slice(-RUNS);
  const runs = await Promise.all(names.map((name) => landedIn(new Journal(common, name))));
  const telling = runs.filter(({ length }) => length > 0);
  const all = telling.flat();
  if (all.length < LEAST) return null;
  return {
    minutes: quartiles(all.map(({ minutes }) => minutes)),
    basis: `${all.length} attempts of ${telling.length} run${telling.length === 1 ? "" : "s"}`,
    tokens: tokensOf(all.map(({ used }) => used).filter((used) => used !== undefined)),
  };
}

/** What attempts used, of each kind of tokens; null where they are too few. */
function tokensOf(used: readonly Usage[]): Experience["tokens"] {
  if (used.length < LEAST) return null;
  const ofEach = tokens((kind) => quartiles(used.map((each) => each[kind])));
  return { ...ofEach, basis: `${used.length} attempts` };
}

/** The median, and what a quarter of the values is below or above. */
function quartiles(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
  return { low: at(0.25), likely: at(0.5), high: at(0.75) };
}

/** What each attempt that landed took, from its worker's beginning to handing in: what failed, was
 * lost or found nothing to do says nothing of the work, and what a person handed in nothing of a
 * worker. A run that cannot be read tells nothing. */
async function landedIn(journal: Journal): Promise<Landed[]> {
  const state = await journal.state().catch(() => null);
  if (state === null) return [];
  const used = new Map([...state.spent.values()].map(({ attempt, usage }) => [attempt, usage]));
  const found: Landed[] = [];
  for (const id of state.landings.flatMap(({ attempts }) => attempts)) {
    const { begun, submitted } = state.attempts.get(id) ?? {};
    if (!begun || !submitted || submitted.byHand) continue;
    const minutes = (submitted.at - begun.at) / 60_000;
    found.push({ minutes, used: used.get(id)?.reduce((all, one) => plus(one, all)) });
  }
  return found;
}
