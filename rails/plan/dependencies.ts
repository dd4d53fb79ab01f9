import { grouped, type Lists } from "./collections.ts";
import type { Task } from "./task.ts";

/** What waits for others, by their ids. */
export type Dependent = Pick<Task, "id" | "depends">;

/** For each id those that wait for it themselves, in the order of the list. */
export const dependentsOf = (all: readonly Dependent[]): Lists =>
  grouped(all.flatMap(({ id, depends }) => depends.map((one) => [one, id] as const)));

/** Some ids and all that hangs on them, by however many steps.
 * @param all each after what it depends on */
export function withDependents(
  ids: readonly string[],
  all: Iterable<Dependent>,
): ReadonlySet<string> {
  const found = new Set(ids);
  for (const { id: other, depends } of all)
    if (depends.some((one) => found.has(one))) found.add(other);
  return found;
}

/** A chain of ids, each of which leads on to the next. */
export type Chain = Readonly<{
  id: string; // Its first link
  length: number; // Of all its links together
  rest: Chain | null; // What comes behind the first
}>;

/** The longest chain from each id on; of equals the one that is said first to come next.
 * @param order the ids, each after all that may come next in a chain from it
 * @param next what may come next; what is not in the order counts for nothing
 * @param lengthOf how long one link is */
export function longestChains(
  order: Iterable<string>,
  next: (id: string) => readonly string[],
  lengthOf: (id: string) => number = () => 1,
): ReadonlyMap<string, Chain> {
  const chains = new Map<string, Chain>();
  for (const id of order) {
    const rest = longestOf(chains, next(id));
    chains.set(id, { id, length: lengthOf(id) + (rest?.length ?? 0), rest });
  }
  return chains;
}

/** The longest of the chains from some ids on, of equals the first; null where there is none. */
export function longestOf(
  chains: ReadonlyMap<string, Chain>,
  ids: Iterable<string> = chains.keys(),
): Chain | null {
  let longest: Chain | null = null;
  for (const id of ids) {
    const chain = chains.get(id);
    if (chain && (longest === null || chain.length > longest.length)) longest = chain;
  }
  return longest;
}

/** The ids along a chain, from its first link on. */
export function linksOf(chain: Chain | null): string[] {
  const ids: string[] = [];
  for (let link = chain; link !== null; link = link.rest) ids.push(link.id);
  return ids;
}
