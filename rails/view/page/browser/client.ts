import type { Island, Patches } from "../island.ts";
import { NEAR, rowsOf } from "./diff-rows.ts";
import { follow } from "./follow.ts";
import { looked } from "./looked.ts";

// The page's own script. What it writes it writes as text: nothing that others named becomes markup.

const byId = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const island: Island = JSON.parse(byId("data").textContent);
const entries = new Map(
  [...document.querySelectorAll<HTMLElement>("[data-for]")].map((each) => [each.dataset.for, each]),
);
const all = island.tasks.map((task) => ({
  ...task,
  article: byId(task.anchor),
  entry: entries.get(task.anchor),
  text: "", // All that it says, once somebody searches
}));
type Task = (typeof all)[number];
document.documentElement.classList.add("has-script");
if (matchMedia("(min-width: 960px)").matches)
  for (const index of document.querySelectorAll<HTMLDetailsElement>("details.index"))
    index.open = true;

// Diffs: a file's lines are made where it is opened or comes near the screen.

const patches = new Map<string, Patches>();

function patchOf(file: HTMLElement): string | null {
  const holder = file.parentElement;
  const id = holder?.dataset.patches ?? "";
  const known = patches.get(id) ?? (JSON.parse(byId(id).textContent) as Patches);
  patches.set(id, known);
  return known[[...(holder?.children ?? [])].indexOf(file)] ?? null;
}

function draw(file: HTMLDetailsElement, isWhole = false): void {
  if (!file.open || file.dataset.drawn) return;
  file.dataset.drawn = "yes";
  const patch = patchOf(file);
  const name = file.querySelector("code")?.textContent ?? "";
  if (patch !== null) file.append(rowsOf(patch, name, isWhole));
}

const files = [...document.querySelectorAll<HTMLDetailsElement>("details.file")];
const near = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries)
      if (isIntersecting) draw(target as HTMLDetailsElement);
  },
  { rootMargin: NEAR },
);
for (const file of files) {
  near.observe(file);
  file.addEventListener("toggle", () => draw(file));
}
// On paper all is open but what nobody reads.
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll<HTMLDetailsElement>("details:not(.bulky)"))
    details.open = true;
  for (const file of files) draw(file, true);
});

// What was looked at.

const memory = looked(island.key);
const button = (task: Task, name: string): HTMLButtonElement | null =>
  task.article.querySelector(`button.${name}`);

function fold(task: Task, isFolded: boolean): void {
  task.article.classList.toggle("folded", isFolded);
  const own = button(task, "fold");
  own?.setAttribute("aria-expanded", String(!isFolded));
  if (own) own.textContent = isFolded ? "Open" : "Fold";
}

function show(task: Task): void {
  const isLooked = memory.has(task.anchor, task.mark);
  for (const each of [task.article, task.entry]) each?.classList.toggle("looked", isLooked);
  button(task, "look")?.setAttribute("aria-pressed", String(isLooked));
}

function count(): void {
  const done = all.filter(({ anchor, mark }) => memory.has(anchor, mark)).length;
  const shown = all.filter(({ article }) => !article.hidden).length;
  const part = shown < all.length ? `, ${shown} shown` : "";
  const kept = memory.isKept ? "" : " (this browser keeps it only until the page is closed)";
  const text = `${done} of ${all.length} looked at${part}${kept}`;
  const place = byId("count");
  if (place.textContent !== text) place.textContent = text;
}

function look(task: Task, isLooked: boolean): void {
  memory.set(task.anchor, isLooked ? task.mark : null);
  fold(task, isLooked);
  show(task);
  count();
}

const toggleLook = (task: Task): void => look(task, !memory.has(task.anchor, task.mark));

for (const task of all) {
  show(task);
  fold(task, memory.has(task.anchor, task.mark));
  button(task, "look")?.addEventListener("click", () => toggleLook(task));
  button(task, "fold")?.addEventListener("click", () =>
    fold(task, !task.article.classList.contains("folded")),
  );
}

// From task to task.

const visible = (): Task[] => all.filter(({ article }) => !article.hidden);

function currentIn(tasks: readonly Task[]): number {
  const focused = document.activeElement?.closest("article.task");
  const at = tasks.findIndex(({ article }) => article === focused);
  if (at >= 0) return at;
  // Else the one at the top of the screen
  return tasks.findLastIndex(({ article }) => article.getBoundingClientRect().top <= 80);
}

function go(task: Task | undefined): void {
  task?.article.focus({ preventScroll: true });
  task?.article.scrollIntoView({ block: "start" });
}

function step(by: number): void {
  const tasks = visible();
  const at = currentIn(tasks) + by;
  go(tasks[Math.min(Math.max(at, 0), tasks.length - 1)]);
}

/** A link to a task opens it. */
function arrive(): void {
  const anchor = decodeURIComponent(location.hash.slice(1));
  const task = all.find((each) => each.anchor === anchor);
  if (!task) return;
  if (task.article.hidden) clear();
  fold(task, false);
  go(task);
}
addEventListener("hashchange", arrive);

// Search and filters.

const search = byId<HTMLInputElement>("search");
const byState = byId<HTMLSelectElement>("by-state");
const byRisk = byId<HTMLSelectElement>("by-risk");
const byFile = byId<HTMLInputElement>("by-file");
const fields = [search, byState, byRisk, byFile];

function textOf(task: Task): string {
  if (task.text === "") task.text = task.article.textContent.toLowerCase();
  return task.text;
}

function filter(): void {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const file = byFile.value.trim().toLowerCase();
  for (const task of all) {
    const { state, risk, article, entry } = task;
    const isMeant =
      (byState.value === "" || state === byState.value) &&
      (byRisk.value === "" || risk === byRisk.value) &&
      (file === "" || task.files.some((path) => path.toLowerCase().includes(file))) &&
      words.every((word) => textOf(task).includes(word));
    article.hidden = !isMeant;
    if (entry) entry.hidden = !isMeant;
  }
  byId("none").hidden = visible().length > 0;
  count();
}

function clear(): void {
  for (const field of fields) field.value = "";
  filter();
}

for (const field of fields) field.addEventListener("input", filter);

// Copying.

/** Where a page from a file may not use the clipboard, what is marked can be copied all the same. */
async function copy(own: HTMLButtonElement): Promise<void> {
  const command = own.parentElement?.querySelector("code");
  if (!command) return;
  const isCopied =
    (await navigator.clipboard?.writeText(command.textContent).then(
      () => true,
      () => false,
    )) ?? false;
  if (!isCopied) getSelection()?.selectAllChildren(command);
  own.textContent = isCopied || document.execCommand("copy") ? "Copied" : "Marked";
  setTimeout(() => {
    own.textContent = "Copy";
  }, 2000);
}

document.addEventListener("click", ({ target }) => {
  const own = (target as Element).closest<HTMLButtonElement>("button.copy");
  if (own) void copy(own);
});

// Keys.

const help = byId<HTMLDialogElement>("help");
byId("keys").addEventListener("click", () => help.showModal());
help.querySelector("button")?.addEventListener("click", () => help.close());

function toggleFiles(): void {
  const tasks = visible();
  const task = tasks[Math.max(0, currentIn(tasks))];
  const own = [...(task?.article.querySelectorAll<HTMLDetailsElement>("details.file") ?? [])];
  if (task) fold(task, false);
  const isOpen = own.some(({ open }) => open);
  for (const each of own) each.open = !isOpen;
}

function mark(): void {
  const tasks = visible();
  const at = Math.max(0, currentIn(tasks));
  const task = tasks[at];
  if (!task) return;
  toggleLook(task);
  const isLooked = memory.has(task.anchor, task.mark);
  go(isLooked ? (tasks[at + 1] ?? task) : task);
}

const KEYS: Readonly<Record<string, () => void>> = {
  j: () => step(1),
  k: () => step(-1),
  x: mark,
  o: toggleFiles,
  "/": () => search.focus(),
  "?": () => help.showModal(),
};

document.addEventListener("keydown", (event) => {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  const isTyping = (target as Element).matches("input, select, textarea");
  if (key === "Escape" && isTyping) (target as HTMLElement).blur();
  if (isTyping || ctrlKey || metaKey || altKey || help.open) return;
  const act = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined;
  if (!act) return;
  event.preventDefault();
  act();
});

count();
arrive();
if (island.isFollowed)
  follow(island, fields, () => {
    filter();
    for (const task of all) show(task);
  });
