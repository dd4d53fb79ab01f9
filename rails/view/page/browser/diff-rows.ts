import parseDiff from "parse-diff";

/** So many lines are made at once; the next when the end of these comes near the screen, is asked
 * for, or goes to paper. */
const LINES = 100;

/** So far from the screen lines are made: who scrolls sees them there. */
export const NEAR = "500px";

/** One line of a table of them: its two numbers, its text, what it is. */
type Row = Readonly<{ was: string; is: string; text: string; kind: string }>;

/** A file's patch as a table.
 * @param name the file's, for those who hear it
 * @param isWhole are all of its lines made at once? */
export function rowsOf(patch: string, name: string, isWhole: boolean): HTMLElement {
  const rows = rowsIn(patch);
  const box = made("div", "wide");
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", `Lines of ${name}`);
  if (rows.length === 0) {
    box.append(made("p", "quiet", headersOf(patch) || "Nothing in it is other."));
    return box;
  }
  const table = made("table", "lines");
  const body = made("tbody");
  table.append(body);
  box.append(table);
  let at = 0;
  const more = made("button", "more");
  more.setAttribute("type", "button");
  const add = (most = LINES): void => {
    body.append(...rows.slice(at, at + most).map(drawn));
    at += most;
    more.textContent = `${rows.length - at} lines more`;
    if (at >= rows.length) more.remove();
  };
  add(isWhole ? rows.length : LINES);
  if (at >= rows.length) return box;
  box.append(more);
  more.addEventListener("click", () => add());
  addEventListener("beforeprint", () => add(rows.length));
  const near = new IntersectionObserver(
    (entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) add();
      // Asked again, since what was added may not be enough.
      near.disconnect();
      if (at < rows.length) near.observe(more);
    },
    { rootMargin: NEAR },
  );
  near.observe(more);
  return box;
}

/** An element with a text in it: no word of others becomes anything else. */
function made(tag: string, name = "", text = ""): HTMLElement {
  const element = document.createElement(tag);
  if (name !== "") element.className = name;
  if (text !== "") element.textContent = text;
  return element;
}

function drawn({ was, is, text, kind }: Row): HTMLElement {
  const row = made("tr", kind);
  row.append(made("td", "number", was), made("td", "number", is), made("td", "text", text || " "));
  return row;
}

function rowsIn(patch: string): Row[] {
  const chunks = parseDiff(patch).flatMap((file) => file.chunks);
  const rows = chunks.flatMap(({ content, changes }): Row[] => [
    { was: "", is: "", text: content, kind: "hunk" },
    ...changes.map((change): Row => {
      const { content: text } = change;
      if (text.startsWith("\\")) return { was: "", is: "", text, kind: "hunk" };
      if (change.type === "normal")
        return { was: `${change.ln1}`, is: `${change.ln2}`, text, kind: "" };
      return change.type === "add"
        ? { was: "", is: `${change.ln}`, text, kind: "added" }
        : { was: `${change.ln}`, is: "", text, kind: "removed" };
    }),
  ]);
  const cut = /^… cut here$/m.exec(patch);
  return cut ? [...rows, { was: "", is: "", text: cut[0], kind: "hunk" }] : rows;
}

/** What a patch without lines says: that a mode is another, that a file is binary, or moved. */
const headersOf = (patch: string): string =>
  patch
    .split("\n")
    .filter((line) => /^(?:old mode|new mode|similarity|rename|copy|Binary|Subproject)/.test(line))
    .join("; ");
