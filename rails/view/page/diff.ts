import { shown } from "../../program/shown.ts";

// What git says that two trees differ in, file by file.

/** What is other in one file. */
export type FileDiff = Readonly<{
  path: string;
  from: string | null; // What it was called before, where that is other
  added: number | null; // Lines; null where git counts none, as in a picture
  removed: number | null;
  folded: string | null; // Why it is not shown before somebody asks for it; null where it is
  patch: string | null; // As git writes it, without what hides; null where it was left out
}>;

/** Longer lines are cut: nobody reads on, and one may be as long as a file. */
const COLUMNS = 2000;
/** Of a file's patch so much is shown. */
const MOST = 400_000;
/** Files with more lines than so many that are other are folded. */
const LINES = 400;

/** What is written by programs and read by nobody. */
const LOCKS =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|Cargo\.lock|composer\.lock|Gemfile\.lock|poetry\.lock|uv\.lock|Pipfile\.lock|go\.sum|flake\.lock|gradle\.lockfile|packages\.lock\.json|mix\.lock|pubspec\.lock|Podfile\.lock)$/;
const MADE =
  /(?:^|\/)(?:dist|build|vendor|node_modules|__snapshots__)\/|\.(?:min\.(?:js|css)|map|snap|pb\.go|g\.dart)$|(?:_pb2\.py|\.generated\.\w+)$/;

type Named = Readonly<{
  status: string;
  path: string;
  from: string | null;
  added: number | null;
  removed: number | null;
}>;

/** The files in which two trees differ.
 * @param names what `git diff --raw --numstat -z` prints: names as they are
 * @param patch what `git diff` prints for the same */
export function filesIn(names: string, patch: string): FileDiff[] {
  const sections = sectionsIn(patch);
  let at = 0;
  return namesIn(names).map((named) => {
    // A file that became a link is taken out and put in again.
    const own = sections.slice(at, at + (named.status === "T" ? 2 : 1));
    at += own.length;
    const { path, from, added, removed } = named;
    return { path, from, added, removed, folded: foldedBy(named), patch: tamed(own.join("")) };
  });
}

/** A patch, one piece for each file. Within a file each line begins with a mark. */
const sectionsIn = (patch: string): string[] =>
  patch === "" ? [] : patch.split(/^(?=diff --git )/m).filter((each) => each.startsWith("diff "));

function namesIn(text: string): Named[] {
  const words = text.split("\0");
  const raw: { status: string; path: string; from: string | null }[] = [];
  let at = 0;
  for (; /^:\d{6} /.test(words[at] ?? ""); at++) {
    const status = /([A-Z])\d*$/.exec(words[at] ?? "")?.[1] ?? "M";
    const isMoved = status === "R" || status === "C";
    const from = isMoved ? (words[++at] ?? "") : null;
    raw.push({ status, path: words[++at] ?? "", from });
  }
  return raw.map((each) => {
    const [added, removed] = (words[at] ?? "").split("\t").map(counted);
    at += each.from === null ? 1 : 3;
    return { ...each, added: added ?? null, removed: removed ?? null };
  });
}

const counted = (text: string): number | null => (/^\d+$/.test(text) ? Number(text) : null);

/** Why a file is not worth its room on the page. */
function foldedBy({ status, path, added, removed }: Named): string | null {
  if (status === "D") return "deleted";
  if (added === null || removed === null) return "binary";
  if (LOCKS.test(path)) return "lock file";
  if (MADE.test(path)) return "generated";
  return added + removed > LINES ? `${added + removed} lines` : null;
}

/** A patch as what it is: no longer, and with no line that is longer, than anybody reads, and
 * nothing in it that hides. */
function tamed(patch: string): string {
  const lines: string[] = [];
  let left = MOST;
  for (const line of patch.split("\n")) {
    const text = tamedLine(line);
    left -= text.length;
    if (left < 0) return [...lines, "… cut here"].join("\n");
    lines.push(text);
  }
  return lines.join("\n");
}

/** A carriage return stands there as a sign, since it may be all that is other. */
function tamedLine(line: string): string {
  const more = line.length - COLUMNS;
  const text = more > 0 ? `${line.slice(0, COLUMNS)} … ${more} characters more` : line;
  return /^[\t -~]*$/.test(text) ? text : shown(text.replaceAll("\r", "␍"));
}
