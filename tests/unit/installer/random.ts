/** Chance that can be repeated: the same seed gives the same run (mulberry32). */
export function chance(seed: number): {
  below(limit: number): number;
  pick<T>(items: readonly T[]): T;
} {
  let state = seed;
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
  return { below, pick: (items) => items[below(items.length)] as (typeof items)[number] };
}
