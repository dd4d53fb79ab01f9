import type { Island } from "../island.ts";

/** How often a page looks for a newer one of itself. */
const EVERY_MS = 5000;
/** So long after somebody did something they are still at it. */
const BUSY_MS = 4000;
/** Older pages are written by nobody any more: `--watch` writes one a minute at least. */
const STALE_MS = 5 * 60_000;

type Field = HTMLInputElement | HTMLSelectElement;

/** How a page was left: where, what was open, what was looked for. */
type Left = Readonly<{
  y: number;
  fields: readonly string[];
  details: Readonly<Record<string, boolean>>;
  folded: readonly string[];
}>;

/** Loads the page again and again while the run goes on, as it was left: a page from a file cannot
 * ask for another. Nobody is interrupted who is in the middle of something.
 * @param restored called once the fields are as they were */
export function follow(
  { key, writtenAt }: Island,
  fields: readonly Field[],
  restored: () => void,
): void {
  const name = `minion left ${key}`;
  const left = taken(name);
  if (left) restore(left, fields, restored);
  if (Date.now() - writtenAt > STALE_MS) {
    const place = document.getElementById("follows");
    if (place) place.textContent = "; nobody writes it anew any more: load it again by hand";
    return;
  }
  let busyAt = 0;
  for (const event of ["pointerdown", "keydown", "wheel", "touchmove"])
    addEventListener(event, () => (busyAt = Date.now()), { passive: true });
  setInterval(() => {
    const isBusy =
      Date.now() - busyAt < BUSY_MS ||
      document.hidden ||
      document.querySelector("dialog[open]") !== null ||
      document.activeElement?.matches("input, select") === true ||
      getSelection()?.isCollapsed === false;
    if (!isBusy && keep(name, fields)) location.reload();
  }, EVERY_MS);
}

/** Details by what they are called within what they lie in. */
function detailsBelow(): [string, HTMLDetailsElement][] {
  return [...document.querySelectorAll("details")].map((each) => {
    const around = each.closest("article, nav")?.id ?? "";
    return [`${around} ${each.querySelector("summary")?.textContent}`, each];
  });
}

/** @returns false where the browser keeps nothing: then the page stays as it is */
function keep(name: string, fields: readonly Field[]): boolean {
  const left: Left = {
    y: scrollY,
    fields: fields.map(({ value }) => value),
    details: Object.fromEntries(detailsBelow().map(([key, { open }]) => [key, open])),
    folded: [...document.querySelectorAll("article.folded")].map(({ id }) => id),
  };
  try {
    sessionStorage.setItem(name, JSON.stringify(left));
    return true;
  } catch {
    return false;
  }
}

function taken(name: string): Left | null {
  try {
    const text = sessionStorage.getItem(name);
    sessionStorage.removeItem(name);
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

function restore(left: Left, fields: readonly Field[], restored: () => void): void {
  for (const [at, field] of fields.entries()) field.value = left.fields[at] ?? "";
  for (const [key, details] of detailsBelow())
    if (Object.hasOwn(left.details, key)) details.open = left.details[key] === true;
  for (const article of document.querySelectorAll("article.task")) {
    const isFolded = left.folded.includes(article.id);
    if (isFolded !== article.classList.contains("folded"))
      article.querySelector<HTMLButtonElement>("button.fold")?.click();
  }
  restored();
  scrollTo({ top: left.y });
}
