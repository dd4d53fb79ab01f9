/** Stretches of code points that one place of a name may hold; `*`: any number of any; `**`: any number of segments. */
type Char = readonly (readonly [number, number])[];
type Segment = readonly (Char | "*")[] | string;
export type Pattern = readonly (Segment | "**")[];

const ANY: Char = [[0, 0x10ffff]];
const ANY_SEGMENT: Segment = ["*"];
const MOST_FORMS = 1000;

/**
 * What a path of a list cannot be, in words; undefined where it is fine. Paths are relative to the folder that the list
 * is for and stay in it: an absolute one means another place in every worktree.
 */
export function pathProblem(path: string): string | undefined {
  const clean = path.trim().replaceAll("\\", "/");
  if (clean === "") return "is empty";
  if (/^(?:\/|[a-z]:|~)/i.test(clean)) return "is absolute";
  if (/^!|[@!+?*]\([^)]*\)/.test(clean)) return "is a glob that is not read here: use * ** ? [..] {a,b}";
  if (clean.length > 1000) return "is longer than a path can be";
  const forms = braces(clean);
  if (forms.length > MOST_FORMS) return `stands for more than ${MOST_FORMS} paths`;
  if (forms.some((form) => segmentsOf(form) === undefined)) return "leaves the folder that the list is for";
  return undefined;
}

/**
 * The patterns that a path, folder or glob stands for; none where `pathProblem` has something to say. Letter case, `\`,
 * `./` and doubled slashes make no difference. A name without a wildcard is also the folder of that name with all that is
 * in it; `x/` and `x/**` are what is in it. `[id]` is a set of letters and also itself, as frameworks name files so.
 */
export function readPattern(path: string): Pattern[] {
  if (pathProblem(path) !== undefined) return [];
  return braces(path.trim().replaceAll("\\", "/").normalize("NFC").toLowerCase()).flatMap((form) => {
    const names = segmentsOf(form) ?? [];
    const inside = names.length === 0 || /\/\.?$/.test(form) || names.at(-1) === "**";
    while (names.at(-1) === "**") names.pop();
    const last = names.at(-1);
    const tail: Pattern = inside ? [ANY_SEGMENT, "**"] : last && !/[*?]|\[.+\]/.test(last) ? ["**"] : [];
    const segments = names.map((name): Segment[] => (name === "**" ? ["**"] : readSegments(name)));
    return segments
      .reduce<Pattern[]>((heads, ways) => heads.flatMap((head) => ways.map((way) => [...head, way])), [[]])
      .map((head) => [...head, ...tail]);
  });
}

/** Do two patterns share a path? Exact: the intersection of the two languages, segment by segment. */
export function overlap(a: Pattern, b: Pattern): boolean {
  return meet(a, b, "**", (one, other) => {
    if (typeof one === "string" && typeof other === "string") return one === other;
    return meet(chars(one), chars(other), "*", (x, y) =>
      (x as Char).some(([low, high]) => (y as Char).some(([from, to]) => low <= to && from <= high)),
    );
  });
}

/**
 * Do two sequences with wildcards have a common reading? Both are walked as automata at once, state by state.
 * `star` stands for any number of things.
 */
function meet<T>(a: readonly T[], b: readonly T[], star: T, same: (a: T, b: T) => boolean): boolean {
  let row = new Uint8Array(b.length + 1);
  row[0] = 1;
  for (let i = 0; ; i++) {
    for (let j = 0; j < b.length; j++) if (row[j] && b[j] === star) row[j + 1] = 1;
    if (i === a.length) return row[b.length] === 1;
    const next = new Uint8Array(b.length + 1);
    const one = a[i] as T;
    let alive = false;
    for (let j = 0; j <= b.length; j++) {
      if (!row[j]) continue;
      if (one === star) {
        // What the other side goes through meanwhile is one more thing that the star stands for.
        for (let k = j; k <= b.length; k++) next[k] = 1;
        alive = true;
        break;
      }
      const other = b[j];
      if (other === undefined) continue;
      if (other === star) next[j] = 1;
      else if (same(one, other)) next[j + 1] = 1;
      else continue;
      alive = true;
    }
    if (!alive) return false;
    row = next;
  }
}

function chars(segment: Segment): readonly (Char | "*")[] {
  if (typeof segment !== "string") return segment;
  return Array.from(segment, (char): Char => [[char.codePointAt(0) ?? 0, char.codePointAt(0) ?? 0]]);
}

/** The segments of a path, `.` and `..` worked out; undefined where it leaves its folder or nobody can tell. */
function segmentsOf(path: string): string[] | undefined {
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "" || name === ".") continue;
    if (name !== "..") names.push(name);
    else if (names.pop()?.includes("**") ?? true) return undefined;
  }
  return names;
}

/** A name with its wildcards: a `[..]` in it is read both ways. */
function readSegments(name: string): Segment[] {
  if (!/[*?[]/.test(name)) return [name];
  let ways: (Char | "*")[][] = [[]];
  for (const [part, set] of name.matchAll(/\[([!^]?\]?[^\]]*)\]|[\s\S]/gu)) {
    if (set === undefined || set === "") {
      const more = part === "*" ? (["*"] as const) : part === "?" ? [ANY] : (chars(part) as Char[]);
      for (const way of ways) if (part !== "*" || way.at(-1) !== "*") way.push(...more);
    } else if (ways.length > 8) return [ANY_SEGMENT];
    else
      ways = ways.flatMap((way) => [
        [...way, readSet(set)],
        [...way, ...(chars(part) as Char[])],
      ]);
  }
  return ways;
}

function readSet(text: string): Char {
  const not = /^[!^]/.test(text);
  const set = [...text.slice(not ? 1 : 0).matchAll(/([\s\S])-([\s\S])|([\s\S])/gu)]
    .map(([, low, high, one]) => [(low ?? one)?.codePointAt(0) ?? 0, (high ?? one)?.codePointAt(0) ?? 0] as const)
    .filter(([low, high]) => low <= high)
    .sort((a, b) => a[0] - b[0]);
  if (!not) return set;
  let from = 0;
  const rest = set.map(([low, high]) => {
    const gap = [from, low - 1] as const;
    from = Math.max(from, high + 1);
    return gap;
  });
  return [...rest, [from, 0x10ffff] as const].filter(([low, high]) => low <= high);
}

/** `a{b,c}` as `ab` and `ac`; a brace without a comma or a partner is a character. Stops soon after the most there may be. */
function braces(text: string): string[] {
  const done: string[] = [];
  const open = [{ text, from: 0 }];
  for (let next = open.pop(); next && done.length + open.length <= MOST_FORMS; next = open.pop()) {
    const start = next.text.indexOf("{", next.from);
    const commas = [start];
    let end = -1;
    let depth = 0;
    for (let at = start; start >= 0 && at < next.text.length && end < 0; at++) {
      const char = next.text[at];
      if (char === "{") depth++;
      if (char === "," && depth === 1) commas.push(at);
      if (char === "}" && --depth === 0) end = at;
    }
    if (start < 0) done.push(next.text);
    else if (end < 0 || commas.length === 1) open.push({ text: next.text, from: start + 1 });
    else
      for (const [index, comma] of commas.entries()) {
        const choice = next.text.slice(comma + 1, commas[index + 1] ?? end);
        open.push({ text: next.text.slice(0, start) + choice + next.text.slice(end + 1), from: start });
      }
  }
  return open.length > 0 ? new Array(MOST_FORMS + 1).fill("") : done;
}
