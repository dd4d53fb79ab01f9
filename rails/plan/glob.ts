import { posix } from "node:path";
import { expand } from "brace-expansion";

/** The names of a path, `**` standing for any number of them. In a name `*` is any number of
 * characters, `?` any one. */
export type Pattern = readonly string[];

/** A path, read as the letters that are compared: case, `\`, and how an accent is encoded make no
 * difference. */
export function clean(path: string): string {
  return path.trim().replaceAll("\\", "/").normalize("NFC").toLowerCase();
}

/** Does a path, as `clean` gives it, start at a root, a drive or a home folder? */
export const isAbsolute = (path: string): boolean => /^(?:\/|[a-z]:|~)/.test(path);

/** Does a name stand for others than itself? */
export const hasWildcard = (name: string): boolean => /[*?]/.test(name);

/** What other tools read as a glob and this one does not: `!a`, `@(a|b)`. */
const FOREIGN = /^!|[@!+?*]\([^)]*\)/;
/** `[id]`, of plain characters. */
const BRACKETS = /\[[^\]{},/]+\]/g;
const MAX_LENGTH = 1000;
const MAX_FORMS = 1000;

/** The patterns that a path, folder or glob stands for, or in words why it can be none. A name
 * without a wildcard is also the folder of that name with all that is in it; `x/` and `x/**` are
 * what is in it. */
export function readPattern(path: string): { patterns: Pattern[]; problem?: string } {
  const none = (problem: string) => ({ patterns: [], problem });
  const text = clean(path);
  if (isAbsolute(text)) return none("is absolute");
  if (FOREIGN.test(text)) return none("is a glob that is not read here: use * ** ? {a,b}");
  if (text.length > MAX_LENGTH) return none("is longer than a path can be");
  // Frameworks name files `[id]`: a bracket is itself, and for whoever meant a set of letters also
  // any one of them.
  const forms = expand(text.replace(BRACKETS, "{$&,?}"), { max: MAX_FORMS + 1 });
  if (forms.length === 0) return none("is empty");
  if (forms.length > MAX_FORMS) return none("stands for more than 1000 paths");
  const patterns: Pattern[] = [];
  for (const form of forms) {
    const names = namesOf(form);
    if (names === undefined) return none("leaves the folder that the list is for");
    const isInside = names.length === 0 || form.endsWith("/") || names.at(-1) === "**";
    while (names.at(-1) === "**") names.pop();
    if (isInside) patterns.push([...names, "*", "**"]);
    else if (hasWildcard(names.at(-1) ?? "")) patterns.push(names);
    else patterns.push([...names, "**"]);
  }
  return { patterns };
}

/** The names of a path, `.` and `..` worked out; undefined where it leaves its folder or nobody can
 * tell. */
export function namesOf(path: string): string[] | undefined {
  // What `**` stands for may be what `..` leaves.
  if (path.includes("**") && path.split("/").includes("..")) return undefined;
  const names = posix.normalize(path).split("/");
  const plain = names.filter((name) => name !== "" && name !== ".");
  return plain[0] === ".." ? undefined : plain;
}

/** Do two patterns share a path? Exact: the intersection of the two languages, name by name. */
export const overlap = (a: Pattern, b: Pattern): boolean => meet(a, b, "**", namesMeet);

/** Do two names, in which there may be wildcards, share a reading? */
function namesMeet(one: string, other: string): boolean {
  if (one === other || one === "*" || other === "*") return true;
  if (!hasWildcard(one + other)) return false;
  return meet([...one], [...other], "*", (x, y) => x === y || x === "?" || y === "?");
}

/** Do two sequences, in which `star` stands for any number of things, have a common reading?
 * @param same whether two things that are no stars have one */
function meet(
  a: readonly string[],
  b: readonly string[],
  star: string,
  same: (a: string, b: string) => boolean,
): boolean {
  // row[j]: the first i of a and the first j of b can be read as the same.
  let row: boolean[] = [];
  for (let i = 0; i <= a.length; i++) {
    const next = [i === 0];
    for (let j = i === 0 ? 1 : 0; j <= b.length; j++) {
      const one = a[i - 1] ?? "";
      const other = b[j - 1] ?? "";
      // A star stands for nothing, or for one more thing of the other side.
      if (one === star || other === star) next[j] = row[j] || next[j - 1] || false;
      else next[j] = row[j - 1] === true && same(one, other);
    }
    if (!next.includes(true)) return false;
    row = next;
  }
  return row[b.length] === true;
}
