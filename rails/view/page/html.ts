import { createHash } from "node:crypto";
import { counted, shortly as modelName } from "../cost-text.ts";
import type { Decision, DiffView, Named, Output, PageData, TaskView, Try } from "./data.ts";
import type { FileDiff } from "./diff.ts";
import type { Island, Patches } from "./island.ts";
import { type Child, el, type Html, inside, json } from "./markup.ts";
import { anchorOf, classOf, graphPicture, timePicture } from "./pictures.ts";

// Built from browser/ by scripts/page.mjs.
declare const __PAGE_SCRIPT__: string;
declare const __PAGE_STYLE__: string;
const SCRIPT = __PAGE_SCRIPT__;
const STYLE = __PAGE_STYLE__;

/** By what a page of ours is known: no other file is overwritten. */
export const GENERATOR = "minion report";

/** Nothing but our own script and style, by their hashes; nothing is loaded or sent. */
const POLICY = [
  "default-src 'none'",
  `script-src '${hashOf(SCRIPT)}'`,
  `style-src '${hashOf(STYLE)}'`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

/** A run as one page for a browser: it asks for nothing, and nothing of others in it can run. */
export function pageHtml(data: PageData): string {
  const title = `Run ${data.run}: ${data.landed} of ${data.total} landed`;
  const head = el(
    "head",
    {},
    el("meta", { charset: "utf-8" }),
    el("meta", { "http-equiv": "Content-Security-Policy", content: POLICY }),
    el("meta", { name: "generator", content: GENERATOR }),
    el("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    el("meta", { name: "referrer", content: "no-referrer" }),
    el("meta", { name: "color-scheme", content: "light dark" }),
    el("title", {}, title),
    el("style", {}, { html: STYLE }),
  );
  const body = el(
    "body",
    {},
    el("a", { class: "skip", href: "#tasks" }, "Skip to the tasks"),
    header(data, title),
    el("div", { class: "page" }, side(data.tasks), main(data)),
    help(),
    islands(data),
    el("script", {}, { html: SCRIPT }),
  );
  return `<!doctype html>\n${inside(el("html", { lang: "en" }, head, body))}\n`;
}

function header(data: PageData, title: string): Html {
  const { goal, success, standing, red, line, isFollowed, writtenAt } = data;
  const written = new Date(writtenAt).toISOString().slice(0, 16).replace("T", " ");
  return el(
    "header",
    { class: "top" },
    el("h1", {}, title),
    el("p", {}, standing, " Line ", code(line), "."),
    red !== "" && el("p", { class: "bad" }, `Red at the end: ${red}`),
    goal !== "" && el("p", { class: "prose" }, goal),
    success !== "" && el("p", { class: "prose" }, `A success if: ${success}`),
    el(
      "p",
      { class: "quiet" },
      `Written ${written} UTC`,
      isFollowed && el("span", { id: "follows" }, ", and anew while the run goes on"),
      ".",
    ),
    el(
      "noscript",
      {},
      el(
        "p",
        { class: "bad" },
        "Without JavaScript there is no search here, and no diff: the command beside each shows it.",
      ),
    ),
  );
}

const code = (text: string): Html => el("code", {}, text);

const option = (value: string): Html => el("option", { value }, value);

const choice = (id: string, label: string, all: string, values: readonly string[]): Html =>
  el(
    "label",
    { for: id },
    label,
    el("select", { id }, el("option", { value: "" }, all), [...new Set(values)].map(option)),
  );

/** What finds tasks, and all of them as links. */
function side(tasks: readonly TaskView[]): Html {
  const files = [...new Set(tasks.flatMap((task) => task.files))].sort().slice(0, 500);
  const states = tasks.map(({ state }) => state);
  const risks = tasks.flatMap(({ risk }) => risk || []);
  return el(
    "nav",
    { class: "side", "aria-label": "Find a task" },
    el(
      "div",
      { class: "controls js" },
      el("label", { for: "search" }, "Search", el("input", { id: "search", type: "search" })),
      choice("by-state", "State", "all", states),
      choice("by-risk", "Risk", "all", risks),
      el(
        "label",
        { for: "by-file" },
        "File",
        el("input", { id: "by-file", type: "search", list: "all-files" }),
      ),
      el("datalist", { id: "all-files" }, files.map(option)),
    ),
    el("p", { id: "count", class: "js", role: "status" }, `0 of ${tasks.length} looked at`),
    el("button", { id: "keys", class: "js", type: "button" }, "Keys"),
    el(
      "details",
      { class: "index" },
      el("summary", {}, "All tasks"),
      el(
        "ol",
        {},
        tasks.map(({ id, title, state, marks }) =>
          el(
            "li",
            { "data-for": anchorOf(id) },
            el(
              "a",
              { href: `#${anchorOf(id)}` },
              el("span", { class: `dot ${classOf(state)}`, "aria-hidden": "true" }),
              el("span", { class: "name" }, `${id} ${title}`),
              " ",
              el("span", { class: "quiet" }, state),
              marks.some(({ isStrong }) => isStrong) &&
                el("span", { class: "flag", title: "worth a look" }, "!"),
            ),
          ),
        ),
      ),
    ),
  );
}

function main(data: PageData): Html {
  const { decisions, alarms, tasks, whole, findings, time, graph, cost, next } = data;
  return el(
    "main",
    {},
    section(
      "decisions",
      "Yours to decide",
      decisions.map((each) => decision(each, tasks)),
    ),
    section(
      "alarms",
      "Alarms",
      alarms.map((each) => el("p", { class: "bad" }, each)),
    ),
    el(
      "section",
      { id: "tasks", tabindex: -1, "aria-labelledby": "tasks-title" },
      el("h2", { id: "tasks-title" }, "Tasks, those first that are most worth a look"),
      el("p", { id: "none", hidden: true, class: "quiet" }, "No task is like that."),
      tasks.map(task),
    ),
    section("whole", "The whole", [
      whole && el("p", {}, el("strong", {}, whole.verdict)),
      whole && prose(whole.text),
    ]),
    section("findings", "Findings", [findings.length > 0 && foundList(findings)]),
    section("time", "How it went", [
      picture(timePicture(time), "Bars are workers; lines across are landings on the line."),
    ]),
    section("graph", "What depends on what", [picture(graphPicture(graph), null)]),
    section("money", "Money and time", [
      cost.length > 0 && el("p", {}, cost.join(" ")),
      data.rows.length > 0 && costTable(data.rows),
    ]),
    section("next", "What next", [
      next.merged !== "" && el("p", {}, next.merged),
      next.commands.length > 0 &&
        el(
          "ul",
          { class: "choices" },
          next.commands.map(([command, what]) => typedItem(command, what)),
        ),
    ]),
  );
}

/** A section with its title; nothing where there is nothing in it. */
const section = (id: string, title: string, children: readonly Child[]): Child =>
  children.some((each) => each !== null && each !== false) &&
  el(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    el("h2", { id: `${id}-title` }, title),
    ...children,
  );

/** A command with the button that copies it. */
const copied = (command: string): Html =>
  el(
    "span",
    { class: "command" },
    el("code", {}, command),
    el("button", { class: "copy js", type: "button", "aria-label": `Copy ${command}` }, "Copy"),
  );

const typedItem = (command: string, what: string): Html =>
  el("li", {}, el("span", { class: "what" }, what), copied(command));

/** What others wrote, line by line. */
const prose = (text: string): Child =>
  text.trim() !== "" && el("div", { class: "prose" }, text.trim());

const linkTo = (id: string, text: string): Html => el("a", { href: `#${anchorOf(id)}` }, text);

function decision(each: Decision, tasks: readonly TaskView[]): Html {
  const { tasks: ids, reason, note, tries, failure, work, choices } = each;
  const titleOf = (id: string): string =>
    `${id} ${tasks.find((one) => one.id === id)?.title ?? ""}`.trim();
  const whose =
    ids.length === 0
      ? "The run"
      : ids.map((id, at) => [at > 0 && ", ", linkTo(id, ids.length > 3 ? id : titleOf(id))]);
  return el(
    "article",
    { class: "card decision" },
    el("h3", {}, whose),
    el("p", {}, el("strong", {}, reason), tries > 1 && ` after ${tries} attempts`),
    prose(note),
    failure && [
      el("p", {}, `${failure.gate} said:`),
      box(failure.lines.join("\n"), `What ${failure.gate} said for ${failure.task}`),
      el("p", { class: "quiet" }, "All of it: ", code(failure.output)),
    ],
    work &&
      el(
        "p",
        {},
        "Its work: ",
        code(work.branch),
        work.worktree !== null && [", in ", code(work.worktree)],
      ),
    el(
      "ul",
      { class: "choices" },
      choices.map(({ label, command }) => typedItem(command, label)),
    ),
  );
}

/** Text in a box of its own, in which long lines are scrolled; a keyboard reaches it. */
const box = (text: string, label: string): Html =>
  el("pre", { class: "box", tabindex: 0, role: "region", "aria-label": label }, text);

function task(view: TaskView): Html {
  const { id, title, state, reason, risk, marks, commit, cost, took, isAsking } = view;
  const anchor = anchorOf(id);
  const badges: Child[] = [
    el("span", { class: `badge ${classOf(state)}` }, state + (reason ? `: ${reason}` : "")),
    risk !== "" && el("span", { class: `badge risk-${risk}` }, `risk ${risk}`),
    commit !== null && el("span", { class: "badge" }, "on the line as ", code(commit)),
    (cost !== "" || view.tries.length > 0) &&
      el("span", { class: "badge" }, [cost, took].filter(Boolean).join(", ")),
    view.tries.length > 1 && el("span", { class: "badge" }, `${view.tries.length} attempts`),
  ];
  return el(
    "article",
    {
      id: anchor,
      class: `card task ${classOf(state)}`,
      tabindex: -1,
      "aria-labelledby": `${anchor}-title`,
    },
    el(
      "header",
      {},
      el("h3", { id: `${anchor}-title` }, el("span", { class: "id" }, id), ` ${title}`),
      el(
        "div",
        { class: "buttons js" },
        el(
          "button",
          {
            class: "fold",
            type: "button",
            "aria-expanded": "true",
            "aria-controls": `${anchor}-body`,
          },
          "Fold",
        ),
        el("button", { class: "look", type: "button", "aria-pressed": "false" }, "Looked at"),
      ),
    ),
    el(
      "p",
      { class: "badges" },
      badges.map((badge) => [badge, " "]),
    ),
    marks.length > 0 &&
      el(
        "ul",
        { class: "marks" },
        marks.map(({ words, names, isStrong }) =>
          el(
            "li",
            { class: isStrong ? "strong" : "weak" },
            words,
            names.length > 0 && ": ",
            names.map((name, at) => [at > 0 && ", ", code(name)]),
          ),
        ),
      ),
    el(
      "div",
      { id: `${anchor}-body`, class: "body" },
      isAsking &&
        el(
          "p",
          { class: "bad" },
          "It waits for you: ",
          el("a", { href: "#decisions" }, "the choices"),
          ".",
        ),
      !isAsking && prose(view.note),
      parts(view),
      ticket(view),
      view.rounds.length > 0 && part("Rounds", named(view.rounds)),
      view.variants &&
        part("Variants", [el("p", {}, `${view.variants.picked}.`), table(view.variants.rows)]),
      part("What and why", prose(view.said)),
      slots(view.slots),
      view.verdicts.map(({ by, verdict, text }) =>
        part(`Verdict of ${by}: ${verdict}`, prose(text)),
      ),
      view.diffs.map((each, at) =>
        diff(each, `${anchor}-diff-${at}`, view.diffs.length > 1, at === 0),
      ),
      view.outputs.length > 0 && part("Commands that ran", view.outputs.map(output)),
      view.tries.length > 0 && part("Tries", view.tries.map(attempt)),
    ),
  );
}

/** A titled part of a task; nothing where it would be empty. */
const part = (title: string, ...children: readonly Child[]): Child =>
  children.some((each) => each !== false && each !== null) && [el("h4", {}, title), ...children];

/** Where a task lies among those that are made of others. */
function parts({ part: above, parts: below, counts }: TaskView): Child {
  const said: Child[] = [];
  if (above !== null) said.push(el("p", {}, "Part of ", linkTo(above, above), "."));
  if (counts !== "") said.push(el("p", {}, `${counts}.`));
  if (below.length > 0)
    said.push(
      el(
        "p",
        {},
        "Made of ",
        below.map((id, at) => [at > 0 && ", ", linkTo(id, id)]),
        ".",
      ),
    );
  return said;
}

const named = (all: readonly Named[]): Html =>
  el(
    "dl",
    {},
    all.map(({ name, text }) => [el("dt", {}, name), el("dd", { class: "prose" }, text)]),
  );

const slots = (all: readonly Named[]): Child => all.length > 0 && part("It also said", named(all));

function ticket({ ticket: text, fields, words }: TaskView): Child {
  if (text.trim() === "" && fields.length === 0 && words.length === 0) return null;
  return part(
    "Ticket",
    prose(text),
    fields.length > 0 && named(fields),
    words.length > 0 && named(words.map((each) => ({ name: "A person said", text: each }))),
  );
}

function table([heads = [], ...rows]: readonly (readonly string[])[]): Html {
  return el(
    "div",
    { class: "wide", tabindex: 0, role: "region", "aria-label": heads.join(", ") },
    el(
      "table",
      {},
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          heads.map((head) => el("th", { scope: "col" }, head)),
        ),
      ),
      el(
        "tbody",
        {},
        rows.map((row) =>
          el(
            "tr",
            {},
            row.map((cell) => el("td", {}, cell)),
          ),
        ),
      ),
    ),
  );
}

/** @param isShown do its files stand open, where nothing speaks against it? */
function diff(
  { attempt, command, files }: DiffView,
  id: string,
  isOneOfSome: boolean,
  isShown: boolean,
): Child {
  const title = isOneOfSome ? `Diff of ${attempt}` : "Diff";
  if (files === null)
    return part(title, el("p", { class: "quiet" }, "Its commits are gone: ", code(command)));
  if (files.length === 0)
    return part(title, el("p", { class: "quiet" }, "Nothing is committed there."), copied(command));
  const sum = (of: (file: FileDiff) => number | null): number =>
    files.reduce((all, file) => all + (of(file) ?? 0), 0);
  const [added, removed] = [sum((file) => file.added), sum((file) => file.removed)];
  return part(
    `${title}: ${files.length} file${files.length === 1 ? "" : "s"}, +${added} −${removed}`,
    copied(command),
    el(
      "div",
      { class: "diff", "data-patches": id },
      files.map((each) => file(each, isShown)),
    ),
  );
}

function file({ path, from, added, removed, folded, patch }: FileDiff, isShown: boolean): Html {
  const size = added === null ? "" : ` +${added} −${removed}`;
  const name = from === null ? path : `${from} → ${path}`;
  return el(
    "details",
    {
      class: folded === null ? "file" : "file bulky",
      open: isShown && folded === null && patch !== null,
    },
    el(
      "summary",
      {},
      el("code", {}, name),
      el("span", { class: "quiet" }, size, folded !== null && `, ${folded}`),
    ),
    patch === null && el("p", { class: "quiet" }, "Left out, since the page would be too large."),
  );
}

function output({ gate, command, how, isPass, by, took, path, text }: Output): Html {
  return el(
    "details",
    { class: "output", open: !isPass && text !== null && text.length < 4000 },
    el(
      "summary",
      {},
      el("strong", { class: isPass ? "good" : "bad" }, `${gate} ${how}`),
      ` ${took}, by ${by}: `,
      code(command),
    ),
    text === null
      ? el("p", { class: "quiet" }, "It is not here; it was in ", code(path))
      : [box(text, `What ${gate} printed for ${by}`), el("p", { class: "quiet" }, code(path))],
  );
}

function attempt({
  attempt: id,
  phase,
  agent,
  how,
  why,
  took,
  dollars,
  branch,
  worktree,
}: Try): Html {
  const facts = [phase, agent, took, dollars === null ? "" : `$${dollars.toFixed(2)}`];
  return el(
    "div",
    { class: "try" },
    el("p", {}, el("strong", {}, `${id}: ${how}`), ` (${facts.filter(Boolean).join(", ")})`),
    why.length > 0 &&
      el(
        "ul",
        {},
        why.map((each) => el("li", {}, each)),
      ),
    branch !== null &&
      el(
        "p",
        { class: "quiet" },
        "Branch ",
        code(branch),
        worktree !== null && [", in ", code(worktree)],
      ),
  );
}

const foundList = (findings: PageData["findings"]): Html =>
  el(
    "ul",
    {},
    findings.map(({ task: id, slot, text }) =>
      el("li", {}, linkTo(id, id), `, ${slot}: `, el("span", { class: "prose" }, text)),
    ),
  );

const picture = (drawn: Html | null, caption: string | null): Child =>
  drawn &&
  el(
    "figure",
    {},
    el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Picture" }, drawn),
    caption !== null && el("figcaption", { class: "quiet" }, caption),
  );

const costTable = (rows: PageData["rows"]): Html =>
  table([
    ["task", "phase", "model", "calls", "in", "cached", "reread", "out", "$"],
    ...rows.map((row) => [
      row.task ?? "(foreman)",
      row.phase,
      modelName(row.model),
      ...[row.requests, row.input, row.write + row.writeHour, row.read, row.output].map(counted),
      row.dollars === null ? "?" : row.dollars.toFixed(2),
    ]),
  ]);

const KEYS = [
  ["j", "next task"],
  ["k", "previous task"],
  ["x", "looked at: fold it and go on; once more takes that back"],
  ["o", "open or fold the files of its diff"],
  ["/", "search"],
  ["?", "these keys"],
  ["Esc", "leave the search, or close this"],
] as const;

const help = (): Html =>
  el(
    "dialog",
    { id: "help", "aria-labelledby": "help-title" },
    el("h2", { id: "help-title" }, "Keys"),
    el(
      "dl",
      {},
      KEYS.map(([key, what]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)]),
    ),
    el(
      "p",
      { class: "quiet" },
      "What you looked at is kept in this browser, for what there is of a task now.",
    ),
    el("button", { type: "button" }, "Close"),
  );

/** What the page's script reads. */
function islands({ key, isFollowed, writtenAt, tasks }: PageData): Child {
  const island: Island = {
    key,
    isFollowed,
    writtenAt,
    tasks: tasks.map(({ id, mark, state, risk, files }) => ({
      anchor: anchorOf(id),
      mark,
      state,
      risk,
      files,
    })),
  };
  const patches = tasks.flatMap(({ id, diffs }) =>
    diffs.flatMap(({ files }, at) => {
      const all: Patches = (files ?? []).map(({ patch }) => patch);
      return all.length > 0 ? [dataElement(`${anchorOf(id)}-diff-${at}`, all)] : [];
    }),
  );
  return [dataElement("data", island), ...patches];
}

const dataElement = (id: string, data: unknown): Html =>
  el("script", { type: "application/json", id }, { html: json(data) });
