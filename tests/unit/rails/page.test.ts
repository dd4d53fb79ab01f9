import { createHash } from "node:crypto";
import { Window } from "happy-dom";
import { describe, expect, test } from "vitest";
import type { NewEvent } from "../../../rails/journal/events.ts";
import { STATES } from "../../../rails/journal/shapes.ts";
import type { RunState } from "../../../rails/journal/state.ts";
import { marksOf, worthOf } from "../../../rails/view/marks.ts";
import { type PageData, pageData, type Texts } from "../../../rails/view/page/data.ts";
import { filesIn } from "../../../rails/view/page/diff.ts";
import { pageHtml } from "../../../rails/view/page/html.ts";
import { askingNow, nextCommands, type Seen } from "../../../rails/view/said.ts";
import { begun, done, ended, handedIn, landed, madeRun } from "./made-run.ts";
import { planned, textsFor, thirty } from "./page-run.ts";
import { seenWith } from "./run.ts";

const NOW = 3_600_000;
const dataOf = (state: RunState, seen: Seen = seenWith({ now: NOW }), texts = textsFor(state)) =>
  pageData(state, seen, texts, true);

/** A page as a browser reads it, with nothing in it run. */
function parsed(data: PageData) {
  const window = new Window({ settings: { enableJavaScriptEvaluation: false } });
  window.document.write(pageHtml(data));
  return window.document;
}

const textOf = (document: ReturnType<typeof parsed>, query: string): string[] =>
  [...document.querySelectorAll(query)].map((each) => each.textContent);

describe("the data of a page", () => {
  test("has every task but that which judges the whole, in every state", () => {
    const { tasks } = dataOf(thirty());
    expect(tasks).toHaveLength(30);
    expect(new Set(tasks.map(({ state }) => state))).toEqual(new Set(STATES));
  });

  test("has first what waits for a person, then what is most worth a look", () => {
    const state = thirty();
    const { tasks } = dataOf(state);
    const asking = tasks.filter(({ isAsking }) => isAsking).length;
    expect(asking).toBeGreaterThan(0);
    expect(tasks.slice(0, asking).every(({ isAsking }) => isAsking)).toBe(true);
    const worths = tasks.slice(asking).map(({ id }) => {
      const task = state.tasks.get(id);
      return task ? worthOf(marksOf(state, task)) : -1;
    });
    expect(worths).toEqual(worths.toSorted((a, b) => b - a));
    expect(tasks[asking]?.id).toBe("4"); // It deleted a file that it does not name
  });

  test("prints the commands that attention and the report print, and no others", () => {
    const state = thirty();
    const seen = seenWith({ now: NOW });
    const { decisions, next } = dataOf(state, seen);
    const { attention } = askingNow(state, seen);
    const said = attention.flatMap(({ choices }) => choices.map(({ command }) => command));
    const shown = decisions.flatMap(({ choices }) => choices.map(({ command }) => command));
    expect(new Set(shown)).toEqual(new Set(said));
    expect(next.commands).toEqual(nextCommands(state, seen.remote));
    const ids = attention.map(({ task }) => task).filter(Boolean);
    expect(decisions.flatMap(({ tasks }) => tasks).toSorted()).toEqual(ids.toSorted());
  });

  test("says why each try came to nothing, and which worktrees are still there", () => {
    const state = thirty();
    const { tasks, decisions } = dataOf(state, seenWith({ worktrees: new Set(["w"]) }));
    const tries = tasks.find(({ id }) => id === "19")?.tries ?? [];
    expect(tries.map(({ how, why, worktree }) => [how, why, worktree])).toEqual([
      ["ended without a result", ["gate-failed"], "w"],
      ["ended without a result", ["gate-failed"], "w"],
    ]);
    expect(decisions.find(({ tasks: [id] }) => id === "19")).toMatchObject({
      tries: 2,
      failure: { gate: "test", task: "19" },
      work: { branch: "minion/r1/19.2", worktree: "w" },
    });
  });

  test("compares what landed as it lies on the line, and else each branch from its base", () => {
    const state = madeRun(
      "1. One\n2. Two\n3. Three\n",
      [...begun("1"), handedIn("1"), ...begun("2"), handedIn("2", 1, { commits: ["x", "y"] })],
      [
        {
          event: "proven",
          from: "b",
          to: "0123456789abcdef",
          tree: "t",
          landed: [
            { attempt: "r1/1.1", commits: ["h11"] },
            { attempt: "r1/2.1", commits: ["x", "y"], skipped: 1 },
          ],
        },
        { event: "landed", to: "0123456789abcdef" },
      ],
      [...begun("3"), ended("3"), ...begun("3", 2)],
    );
    const commands = new Map(
      dataOf(state).tasks.map(({ id, diffs }) => [id, diffs.map(({ command }) => command)]),
    );
    expect(commands.get("1")).toEqual(["git diff 0123456789~2 0123456789~1"]);
    expect(commands.get("2")).toEqual(["git diff 0123456789~1 0123456789"]);
    expect(commands.get("3")).toEqual([
      "git diff b refs/heads/minion/r1/3.2",
      "git diff b refs/heads/minion/r1/3.1",
    ]);
  });

  test("shows rounds, variants and parts as what they are", () => {
    const byId = new Map(dataOf(thirty()).tasks.map((task) => [task.id, task]));
    expect(byId.get("21")?.rounds.map(({ name }) => name)).toEqual(["round 1", "round 2"]);
    const { picked, rows = [] } = byId.get("22")?.variants ?? {};
    expect(picked).toBe("variant 3 was picked by its measure");
    expect(rows.map((row) => row[2])).toEqual([
      "lowest of wc -c src/a.ts",
      "298",
      "297",
      "296, picked",
    ]);
    const area = new Map(dataOf(planned()).tasks.map((task) => [task.id, task]));
    expect(area.get("A")).toMatchObject({ parts: ["A/1", "A/2"], part: null });
    expect(area.get("A/1")).toMatchObject({ parts: [], part: "A" });
  });
});

describe("a diff", () => {
  const header = (path: string): string => `diff --git a/${path} b/${path}\n`;

  test("has the names that git gives, and folds what nobody reads", () => {
    const raw = [":100644 100644 1 2 M\0src/a\nb.ts\0", ":100644 000000 1 0 D\0gone.ts\0"];
    const more = [":100644 100644 1 2 R090\0old.ts\0new.ts\0", ":100644 120000 1 2 T\0link\0"];
    const last = [":100644 100644 1 2 M\0a/yarn.lock\0", ":100644 100644 1 2 M\0p.png\0"];
    const counts = ["2\t1\tsrc/a\nb.ts\0", "0\t9\tgone.ts\0", "1\t1\t\0old.ts\0new.ts\0"];
    const others = ["1\t9\tlink\0", "500\t4\ta/yarn.lock\0", "-\t-\tp.png\0"];
    const names = [...raw, ...more, ...last, ...counts, ...others].join("");
    const patch = ["a", "gone", "moved", "link", "link again", "lock", "picture"]
      .map(header)
      .join("");
    const files = filesIn(names, patch);
    expect(files.map(({ path, from, folded }) => [path, from, folded])).toEqual([
      ["src/a\nb.ts", null, null],
      ["gone.ts", null, "deleted"],
      ["new.ts", "old.ts", null],
      ["link", null, null],
      ["a/yarn.lock", null, "lock file"],
      ["p.png", null, "binary"],
    ]);
    expect(files[3]?.patch).toContain("link again");
    expect(files[5]?.patch).toContain("picture");
  });

  test("hides nothing, and cuts lines that are longer than anybody reads", () => {
    const names = ":100644 100644 1 2 M\0a\x001\t1\ta\0";
    const lines = `+\u202eevil\u001b[2J\n+crlf\r\n+${"x".repeat(10_000_000)}\n`;
    const [file] = filesIn(names, `${header("a")}@@ -1 +1,3 @@\n${lines}`);
    expect(file?.patch).toContain("+\\u202eevil\\x1b[2J\n+crlf␍\n");
    expect(file?.patch).toMatch(/x … 9998001 characters more/);
    expect(file?.patch?.length).toBeLessThan(3000);
  });
});

describe("the page", () => {
  test("runs and loads nothing but its own script and style, by their hashes", () => {
    const data = dataOf(thirty());
    const document = parsed(data);
    const policy = document
      .querySelector('meta[http-equiv="Content-Security-Policy"]')
      ?.getAttribute("content");
    const hashOf = (text: string): string =>
      `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
    const own = [...document.querySelectorAll("script")].filter((each) => !each.type);
    expect(own).toHaveLength(1);
    expect(policy).toContain(`script-src ${hashOf(own[0]?.textContent ?? "")};`);
    expect(policy).toContain(`style-src ${hashOf(textOf(document, "style")[0] ?? "")};`);
    expect(policy).toContain("default-src 'none'");
    expect(document.querySelectorAll("[src], [style], link, iframe, object, base")).toHaveLength(0);
    const links = [...document.querySelectorAll("a")].map((each) => each.getAttribute("href"));
    expect(links.every((href) => href?.startsWith("#"))).toBe(true);
    expect(pageHtml(data).match(/<script/g)?.length).toBe(
      document.querySelectorAll("script").length,
    );
  });

  test("has the data that its script reads", () => {
    const data = dataOf(thirty());
    const document = parsed(data);
    const island = JSON.parse(textOf(document, "#data")[0] ?? "");
    expect(island.tasks.map(({ anchor }: { anchor: string }) => anchor)).toEqual(
      [...document.querySelectorAll("article.task")].map(({ id }) => id),
    );
    for (const holder of document.querySelectorAll("[data-patches]")) {
      const [text = ""] = textOf(document, `[id="${holder.getAttribute("data-patches")}"]`);
      expect(JSON.parse(text)).toHaveLength(holder.children.length);
    }
  });

  test("says without its script what is to be decided, and what each task is", () => {
    const data = dataOf(thirty());
    const document = parsed(data);
    const commands = textOf(document, "#decisions .command code");
    expect(commands).toEqual(
      data.decisions.flatMap(({ choices }) => choices.map((c) => c.command)),
    );
    const titles = textOf(document, "article.task h3");
    expect(titles).toEqual(data.tasks.map(({ id, title }) => `${id} ${title}`));
    expect(textOf(document, "noscript").join()).toContain("JavaScript");
  });

  test("has headings in order, and a name for each button, field and region", () => {
    const document = parsed(dataOf(thirty()));
    const levels = [...document.querySelectorAll("h1, h2, h3, h4")].map(({ tagName }) =>
      Number(tagName[1]),
    );
    expect(levels[0]).toBe(1);
    for (const [at, level] of levels.entries())
      expect(level - (levels[at - 1] ?? 0)).toBeLessThanOrEqual(1);
    for (const one of document.querySelectorAll("button, [role=region], nav"))
      expect(one.getAttribute("aria-label") ?? one.textContent).not.toBe("");
    const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("draws a graph that leads to each task, and when who worked", () => {
    const document = parsed(dataOf(thirty()));
    expect(document.querySelectorAll("svg.graph a.box")).toHaveLength(30);
    expect(document.querySelectorAll("svg.graph path.edge").length).toBeGreaterThan(1);
    expect(document.querySelectorAll("svg.time rect.bar").length).toBeGreaterThan(20);
    expect(document.querySelectorAll("svg.time path.landing")).toHaveLength(15);
  });
});

describe("what others named", () => {
  const EVIL = [
    "</script><script>globalThis.ran = 1</script>",
    '"><img src=x onerror="globalThis.ran = 1">',
    "</style><style>* { display: none }</style>",
    "<!--<script>",
    "]]>",
    "\u202e\u2066\u001b[31m\u0000\u2028\u2029\ud800",
    "&lt;b&gt;' onclick='x",
  ].join(" ");

  /** A run in which everything that somebody may name is called so. */
  function hostile(): { data: PageData; state: RunState } {
    const state = madeRun(
      "1. One\n2. Two\n3. Three\n",
      [
        ...begun("1"),
        handedIn("1", 1, { handoff: `What and why: ${EVIL}`, paths: [EVIL], deleted: [EVIL] }),
        ...landed("1"),
      ],
      [
        ...begun("2"),
        { event: "ended", attempt: "r1/2.1", reason: "forbidden", note: EVIL } as NewEvent,
      ],
      done("3"),
    );
    for (const task of state.tasks.values())
      Object.assign(task, { title: EVIL, description: EVIL, words: [EVIL], doneWhen: EVIL });
    const file = { path: EVIL, from: EVIL, added: 1, removed: 1, folded: null, patch: EVIL };
    const texts: Texts = {
      diffs: new Map([...textsFor(state).diffs.keys()].map((key) => [key, [file]])),
      outputs: new Map([["o", EVIL]]),
      failures: new Map([["2", { gate: EVIL, lines: [EVIL], output: EVIL }]]),
    };
    return { state, data: pageData({ ...state, goal: EVIL }, seenWith(), texts, false) };
  }

  test("becomes no markup, and hides nothing", () => {
    const { data } = hostile();
    const document = parsed(data);
    const plain = JSON.parse(
      JSON.stringify(data).replaceAll(JSON.stringify(EVIL).slice(1, -1), "x"),
    );
    const tags = (all: ReturnType<typeof parsed>): string[] =>
      [...all.querySelectorAll("*")].map(({ tagName }) => tagName);
    expect(tags(document)).toEqual(tags(parsed(plain)));
    const attributes = (all: ReturnType<typeof parsed>): string[] =>
      [...all.querySelectorAll("*")].flatMap((each) => each.getAttributeNames());
    expect(attributes(document)).toEqual(attributes(parsed(plain)));
    const shown = pageHtml(data).replace(/<script type="application\/json".*?<\/script>/gs, "");
    expect(shown.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
  });

  test("stands there as the text that it is", () => {
    const { data } = hostile();
    const [title = ""] = textOf(parsed(data), "article.task h3");
    expect(title).toContain("</script><script>globalThis.ran = 1</script>");
    expect(title).toContain("\\u202e\\u2066\\x1b[31m\\x00");
  });

  test("leaves the data that the script reads as it is", () => {
    const { data } = hostile();
    const [patches = ""] = textOf(parsed(data), '[id="task-1-diff-0"]');
    expect(JSON.parse(patches)).toEqual([EVIL]);
    expect(patches).not.toMatch(/[<>&\u2028\u2029]/);
  });
});
