/** Lists by a name. */
export type Lists<V = string> = ReadonlyMap<string, readonly V[]>;

/** The second ones by the first, each in the order of the pairs. */
export function grouped<V>(pairs: Iterable<readonly [key: string, value: V]>): Lists<V> {
  const groups = new Map<string, V[]>();
  for (const [key, value] of pairs) {
    const group = groups.get(key);
    if (group) group.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}

/** The first place in a list at which this holds, or its length; from there on it does. */
export function lowest<T>(list: readonly T[], holds: (one: T) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(list[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}
