import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import axe from "axe-core";
import type { Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pageData } from "../../rails/view/page/data.ts";
import { pageHtml } from "../../rails/view/page/html.ts";
import { Scene } from "../cli/rails/scene.ts";
import { planned, textsFor, thirty } from "../unit/rails/page-run.ts";
import { seenWith } from "../unit/rails/run.ts";
import { CHROMIUM, Chromium } from "./browser.ts";

const WHERE = CHROMIUM ? "in Chromium" : "in Chromium, which is not here: apt-get install chromium";

/** Where the pictures are kept that a person looks at; else they go with the test. */
const PICTURES = process.env.MINION_PICTURES;

const used = { requests: 9, input: 1000, write: 9000, writeHour: 0, read: 99_000, output: 4000 };
const row = { task: "1", phase: "implement", model: "opus", dollars: 0.15, ...used };
const COST = {
  rows: [row, { ...row, task: null, phase: "" }],
  dollars: 0.3,
  unpriced: [],
  unknown: [],
  attempts: { "r1/1.1": 0.15, "r1/4.1": 0.15 },
};

const htmlOf = (isFollowed = false, now = Date.now(), state = thirty()): string =>
  pageHtml(pageData(state, seenWith({ now, cost: COST }), textsFor(state, 900), isFollowed));

const chromium = new Chromium();
beforeAll(() => (CHROMIUM ? chromium.start() : undefined));
afterAll(() => chromium.end());

const LOOK = "document.querySelector('#task-4 button.look').click()";
const countIn = (page: Page): Promise<string> => page.$eval("#count", (each) => each.textContent);
const shownIn = (page: Page): Promise<string[]> =>
  page.$$eval("article.task:not([hidden])", (all) => all.map(({ id }) => id));
const focusIn = (page: Page): Promise<string> =>
  page.evaluate("document.activeElement.id") as Promise<string>;

/** What axe finds that keeps somebody from using a page. */
async function faultsIn(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate("axe.run()")) as axe.AxeResults;
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}

describe.skipIf(!CHROMIUM)(WHERE, () => {
  for (const width of [400, 1024, 1600])
    for (const scheme of ["light", "dark"])
      test(`a run with every state can be read at ${width} pixels, ${scheme}`, async () => {
        const { page, did } = await chromium.open(chromium.write(htmlOf()), async (one) => {
          await one.setViewport({ width, height: 1000 });
          await one.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
        });
        const folder = PICTURES ?? join(chromium.folder, "pictures");
        mkdirSync(folder, { recursive: true });
        for (const part of ["decisions", "task-4", "task-19", "task-22", "time", "money"]) {
          await page.evaluate(`document.getElementById("${part}").scrollIntoView()`);
          await new Promise((resolve) => setTimeout(resolve, 300));
          const path = join(folder, `${width}-${scheme}-${part}.png`) as `${string}.png`;
          await page.screenshot({ path });
        }
        const over = await page.evaluate(
          "document.documentElement.scrollWidth - document.documentElement.clientWidth",
        );
        expect(over).toBe(0);
        expect(await faultsIn(page)).toEqual([]);
        expect(did).toEqual({ logged: [], asked: [] });
        await page.close();
      });

  test("keys go from task to task, mark them, search, and show what they are", async () => {
    const { page } = await chromium.open(chromium.write(htmlOf()));
    const all = await shownIn(page);
    await page.keyboard.press("j");
    expect(await focusIn(page)).toBe(all[0]);
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await page.keyboard.press("x");
    expect([await focusIn(page), await countIn(page)]).toEqual([all[1], "1 of 30 looked at"]);
    await page.keyboard.press("/");
    await page.keyboard.type("webhook");
    expect(await shownIn(page)).toContain("task-8");
    expect(await shownIn(page)).not.toContain("task-1");
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    expect(await page.$eval("dialog", ({ open }) => open)).toBe(true);
    await page.keyboard.press("Escape");
    expect(await page.$eval("dialog", ({ open }) => open)).toBe(false);
    await page.keyboard.press("j");
    const own = await focusIn(page);
    const openIn = (id: string): Promise<number> =>
      page.$$eval(`[id="${id}"] details.file[open]`, ({ length }) => length);
    const before = await openIn(own);
    await page.keyboard.press("o");
    expect(await openIn(own)).not.toBe(before);
    await page.close();
  });

  test("filters by state, risk and file leave what is like that", async () => {
    const { page } = await chromium.open(chromium.write(htmlOf()));
    await page.select("#by-state", "landed");
    expect(await shownIn(page)).toHaveLength(15);
    await page.select("#by-risk", "high");
    expect(await shownIn(page)).toEqual(["task-3", "task-8"]);
    await page.type("#by-file", "money");
    expect(await shownIn(page)).toEqual(["task-3"]);
    expect(await countIn(page)).toBe("0 of 30 looked at, 1 shown");
    await page.evaluate("location.hash = '#task-19'");
    await page.waitForFunction("document.activeElement.id === 'task-19'");
    expect(await shownIn(page)).toHaveLength(30);
    await page.close();
  });

  test("what was looked at stays so when it is opened again, and not for other work", async () => {
    const file = chromium.write(htmlOf());
    const { page } = await chromium.open(file);
    await page.evaluate(LOOK);
    await page.reload();
    expect(await countIn(page)).toBe("1 of 30 looked at");
    const state = thirty();
    const own = state.tasks.get("4")?.result?.submitted;
    if (own) Object.assign(own, { head: "another" });
    chromium.write(htmlOf(false, Date.now(), state));
    await page.reload();
    expect(await countIn(page)).toBe("0 of 30 looked at");
    await page.close();
  });

  test("a browser that keeps nothing shows all the same, and says so", async () => {
    const { page, did } = await chromium.open(chromium.write(htmlOf()), (one) =>
      one.evaluateOnNewDocument(() => {
        for (const name of ["localStorage", "sessionStorage"])
          Object.defineProperty(globalThis, name, {
            get() {
              throw new Error("refused");
            },
          });
      }),
    );
    await page.evaluate(LOOK);
    expect(await countIn(page)).toMatch(/^1 of 30 looked at \(.*until the page is closed\)$/);
    expect(did.logged).toEqual([]);
    await page.close();
  });

  test("a command is copied, or marked where the browser lets no page copy", async () => {
    const { page } = await chromium.open(chromium.write(htmlOf()));
    const command = await page.$eval("#decisions .command code", (each) => each.textContent);
    await page.click("#decisions button.copy");
    await page.waitForFunction("document.querySelector('button.copy').textContent !== 'Copy'");
    const said = await page.$eval("button.copy", (each) => each.textContent);
    const marked = `${await page.evaluate("String(getSelection())")}`;
    if (said === "Copied" && marked === "") {
      await page.focus("#search");
      await page.keyboard.down("Control");
      await page.keyboard.press("v");
      await page.keyboard.up("Control");
      expect(await page.evaluate("document.getElementById('search').value")).toBe(command);
    } else expect(marked.trim()).toBe(command);
    await page.close();
  });

  test("on paper all is open but what nobody reads", async () => {
    const { page } = await chromium.open(chromium.write(htmlOf()));
    const paper = await page.pdf({ timeout: 300_000 });
    expect(Buffer.from(paper.slice(0, 5)).toString()).toBe("%PDF-");
    expect(await page.$$("details:not([open]):not(.bulky)")).toEqual([]);
    expect(await page.$$("details.bulky[open]")).toEqual([]);
    expect(await page.$$("button.more")).toEqual([]);
    expect(await page.$$eval("details.file table.lines", ({ length }) => length)).toBeGreaterThan(
      30,
    );
    await page.close();
  });

  test("a page that is written anew is loaded again, with what was looked for", async () => {
    const file = chromium.write(htmlOf(true));
    const { page } = await chromium.open(file);
    await page.type("#by-file", "money");
    await page.evaluate("document.activeElement.blur()");
    const state = thirty();
    Object.assign(state, { goal: "Something else by now" });
    chromium.write(htmlOf(true, Date.now(), state));
    await page.waitForFunction("document.body.textContent.includes('Something else by now')", {
      timeout: 60_000,
    });
    expect(await shownIn(page)).toEqual(["task-3"]);
    await page.close();
  });

  test("an area, and a page without its script, say all that is to be decided", async () => {
    const { page } = await chromium.open(
      chromium.write(htmlOf(false, Date.now(), planned())),
      (one) => one.setJavaScriptEnabled(false),
    );
    expect(await shownIn(page)).toEqual(["task-A/1", "task-A", "task-A/2"]);
    await page.close();
    const other = await chromium.open(chromium.write(htmlOf()), (one) =>
      one.setJavaScriptEnabled(false),
    );
    const text = await other.page.$eval("body", (each) => each.textContent);
    for (const said of ["Yours to decide", "What is wanted, in a sentence", "Without JavaScript"])
      expect(text).toContain(said);
    await other.page.close();
  });

  test("a run whose names, diffs and output try to break out shows them as text", async () => {
    const evil = "</script><script>ran = 1</script><img src=x onerror='ran = 1'>";
    const scene = new Scene(
      "---\ngates:\n  - name: test\n    run: 'grep -rha . src; ! grep -rqa FAIL src'\n---\n",
    );
    try {
      const mark = "\u202e\u001b[31m]]>";
      await scene.start(`1. ${evil} ${mark}\n2. ${evil}\n`);
      const { dispatch } = (await scene.minion(["next", "--json"])).json;
      const long = "<b>".repeat(3_500_000);
      await scene.goodWorker(dispatch[0].attempt, {
        "src/evil.txt": `${evil}\n${mark}\n${long}\n`,
        "src/<img src=x onerror=ran=1>.ts": `${evil}${mark}\n`,
        "src/nul.bin": `a\u0000${evil}`,
      });
      const worker = await scene.agent(dispatch[1].attempt);
      await worker.begin();
      worker.edit({ "src/evil.txt": `${evil}\u0000 FAIL\n` });
      worker.commit(evil);
      await worker.minion(["gate", "--all"]);
      await scene.minion(["next"]);
      await scene.minion(["stop", "2", "-m", evil]);
      const { json } = await scene.minion(["report", "--html", "--json"]);
      expect(readFileSync(json.page).length).toBeLessThan(1_000_000);
      const { page, did } = await chromium.open(json.page);
      await page.$$eval("details", (all) => {
        for (const each of all) each.open = true;
      });
      await page.keyboard.press("/");
      await page.keyboard.type("<img");
      await page.waitForSelector("table.lines td.text");
      const lines = await page.$$eval("table.lines td.text", (all) =>
        all.map((each) => each.textContent),
      );
      expect(lines).toContain(`+${evil}`);
      expect(lines.some((line) => line.includes("\\u202e\\x1b[31m]]>"))).toBe(true);
      expect(await page.evaluate(() => (globalThis as { ran?: number }).ran)).toBeUndefined();
      expect(await page.$$("img")).toEqual([]);
      expect(did).toEqual({ logged: [], asked: [] });
      await page.close();
    } finally {
      await scene.destroy();
    }
  });
});
