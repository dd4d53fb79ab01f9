import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import width from "fast-string-width";
import { describe, expect, test } from "vitest";
import type { NewEvent } from "../../../rails/journal/events.ts";
import { effortIn } from "../../../rails/journal/phases.ts";
import { estimate, expectedOf, fitting } from "../../../rails/money/estimate.ts";
import { experienceOf } from "../../../rails/money/experience.ts";
import { readPrices } from "../../../rails/money/price-table.ts";
import type { Prices } from "../../../rails/money/prices.ts";
import { makePlan } from "../../../rails/plan/plan.ts";
import { mermaid } from "../../../rails/view/mermaid.ts";
import { estimateLines, planTable } from "../../../rails/view/plan-table.ts";
import { listing, madeRun } from "../rails/made-run.ts";
import { phasesOf, startedWith } from "../rails/run.ts";

const SHIPPED = await readFile(
  new URL("../../../assets/skills/minion-blueprint/prices.md", import.meta.url),
  "utf8",
);
const shipped = readPrices(SHIPPED, "prices.md");
const same = (value: number) => ({ low: value, likely: value, high: value });
/** Whole dollars, so that sums are done in the head: a dispatch by `a` costs 1 + 2 × 3 + 4 + 5 =
 * 16, by `b` half of it. */
const prices: Prices = {
  models: new Map([
    ["default", { input: 4, cacheWrite: 1, cacheRead: 2, output: 5 }],
    ["half", { input: 2, cacheWrite: 0.5, cacheRead: 1, output: 2.5 }],
  ]),
  worker: {
    minutes: { low: 2, likely: 4, high: 10 },
    turns: same(3),
    context: same(1e6),
    fresh: same(1e6),
    output: same(1e6),
  },
};
const LIST =
  "1. One\n   Files: a\n2. Two\n   Files: b\n   Model: Half[1m]\n3. Three\n   Files: b\n4. Four (depends on: 1)\n";
const of = (
  list: string,
  workers = 2,
  ...more: [Parameters<typeof estimate>[3]?, Parameters<typeof estimate>[4]?]
) => estimate(makePlan(list, "list"), workers, prices, more[0] ?? null, more[1]);

describe("what a list takes", () => {
  test("time by the schedule, money and tokens by the dispatch", () => {
    const found = of(LIST);
    expect(found).toMatchObject({
      workers: 2,
      basis: "defaults",
      unpriced: [],
      oneByOne: 16,
      tokens: 4 * 6e6,
      minutes: { low: 4, likely: 8, high: 20 },
      dollars: { low: 56, likely: 56, high: 56 },
    });
    expect(found?.perTask.toSorted((a, b) => Number(a.id) - Number(b.id))).toEqual([
      { id: "1", minutes: 4, dollars: 16 },
      { id: "2", minutes: 4, dollars: 8 },
      { id: "3", minutes: 4, dollars: 16 },
      { id: "4", minutes: 4, dollars: 16 },
    ]);
    expect(of(LIST, 1)?.minutes.likely).toBe(16);
  });
  test("a task of several dispatches takes so many times as much", () => {
    const found = of("1. One\n2. Two\n", 2, null, (id) => {
      const [one, many] = ["- name: a", "- name: a\n- name: b\n- name: c"].map(phasesOf);
      return effortIn((id === "2" ? many : one) ?? [], 2);
    });
    expect(found).toMatchObject({
      oneByOne: 16,
      minutes: { likely: 12 },
      dollars: { likely: 64 },
      tokens: 4 * 6e6,
    });
    expect(found?.perTask[0]).toEqual({ id: "2", minutes: 12, dollars: 48 });
  });
  test("rounds come one after another: one at least, and all of them as the upper end", () => {
    const found = of("1. One\n", 2, null, () => effortIn(phasesOf("- {name: a, rounds: 6}"), 2));
    expect(found).toMatchObject({
      minutes: { low: 2, likely: 4 * 4, high: 6 * 10 },
      dollars: { low: 16, likely: 4 * 16, high: 6 * 16 },
    });
  });
  test("variants are at work at once: their time counts once where there are slots, their money each", () => {
    const phases = phasesOf(
      "- {name: ways, writes: false}\n- {name: a, variants: 3}\n- {name: b, picks: a}",
    );
    const with3 = of("1. One\n", 3, null, () => effortIn(phases, 3));
    expect(with3).toMatchObject({ minutes: { likely: 3 * 4 }, dollars: { likely: 5 * 16 } });
    expect(of("1. One\n", 2, null, () => effortIn(phases, 2))?.minutes.likely).toBe(4 * 4);
  });
  test("what a run is expected to cost grows by what is planned or listed as it goes", () => {
    const known = of("1. One\n") as NonNullable<ReturnType<typeof of>>;
    const list = "### Task 1: Move\nEach: ls\n";
    const listed = madeRun(list, listing("1", ["a", "b", "c"]));
    const state = { ...listed, estimate: { ...known, dollars: same(0) } };
    expect(expectedOf(state)).toEqual(same(3 * 16));
  });
  test("earlier runs stand in for the minutes that are assumed, and say so", () => {
    const minutes = { low: 1, likely: 1.5, high: 3 };
    expect(
      of("1. One\n2. Two (depends on: 1)\n", 2, {
        minutes,
        basis: "9 attempts of 2 runs",
        tokens: null,
      }),
    ).toMatchObject({
      basis: "9 attempts of 2 runs",
      minutes: { low: 2, likely: 3, high: 6 },
      dollars: { likely: 32 },
    });
  });
  test("so do their tokens for those that are assumed", () => {
    const spread = (likely: number) => ({ low: likely / 2, likely, high: likely * 2 });
    const tokens = {
      write: spread(1e6),
      writeHour: spread(0),
      read: spread(2e6),
      input: spread(3e6),
      output: spread(4e6),
    };
    const earlier = { minutes: spread(1), basis: "m", tokens: { ...tokens, basis: "7 attempts" } };
    const found = of("1. One\n2. Two\n", 2, earlier);
    const one = 1 * 1 + 2 * 2 + 3 * 4 + 4 * 5; // The prices of `default`, in order
    expect(found).toMatchObject({ tokenBasis: "7 attempts", tokens: 20e6 });
    expect(found?.dollars).toEqual({ low: one, likely: 2 * one, high: 4 * one });
  });
  test("a model without a price is named and not priced as nothing", () => {
    const found = of("1. One\n   Model: gpt-9\n2. Two\n");
    expect(found).toMatchObject({ dollars: null, unpriced: ["gpt-9"] });
    expect(found?.perTask.map(({ dollars }) => dollars)).toEqual([null, 16]);
    expect(estimateLines(found, null)[1]).toBe("cost not known: prices.md has no gpt-9");
  });
  test("nothing to dispatch: no estimate", () => {
    for (const list of [
      "",
      "### Task 1: One [DONE]\n",
      "1. One (depends on: 2)\n2. Two (depends on: 1)\n",
    ])
      expect(of(list)).toBeNull();
  });
  test("what a budget pays for, in order of dispatch, to the cent", () => {
    const found = of("1. One\n2. Two (depends on: 1)\n3. Three (depends on: 2)\n") as NonNullable<
      ReturnType<typeof of>
    >;
    const fits = (dollars: number) => fitting(found, dollars).fits.join();
    expect([15.99, 16, 47.99, 48, 1000].map(fits)).toEqual(["", "1", "1,2", "1,2,3", "1,2,3"]);
    expect(fitting(found, 20)).toEqual({ dollars: 20, fits: ["1"], left: ["2", "3"] });
  });
  test("for people, within 80 columns", () => {
    const list = Array.from({ length: 300 }, (_, index) => `${index + 1}. Task\n`).join("");
    const found = of(list, 16) as NonNullable<ReturnType<typeof of>>;
    const lines = estimateLines(found, fitting(found, 100));
    expect(lines).toEqual([
      "about 76 min (38–190) with 16 workers, one after another 1200 min (defaults)",
      "about $4800.00 (4800.00–4800.00) at list prices, 1800.0 million tokens",
      expect.stringMatching(/^\$100\.00 pay for 6 of these tasks; left: 7, 8, 9/),
    ]);
    const table = planTable(makePlan(LIST, "list"), [], 80, lines).split("\n");
    expect(table[1]).toBe("longest chain (2): 1 → 4");
    expect(table.slice(2, 4)).toEqual(lines.slice(0, 2));
    for (const line of table) expect(width(line)).toBeLessThanOrEqual(80);
  });
});

describe("the shipped prices", () => {
  test("have the client's names, whole names with a date, and what is assumed", () => {
    const models = [
      "",
      "opus",
      "Sonnet",
      "haiku",
      "opus[1m]",
      "claude-haiku-4-5-20251001",
      "inherit",
    ];
    const list = models
      .map((model, index) => `${index + 1}. T\n${model && `   Model: ${model}\n`}`)
      .join("");
    expect(estimate(makePlan(list, "l"), 4, shipped, null)?.unpriced).toEqual([]);
    expect(shipped.models.get("sonnet")).toEqual({
      input: 2,
      cacheWrite: 2.5,
      cacheRead: 0.1,
      output: 10,
    });
    expect(shipped.worker.context).toEqual({ low: 20_000, likely: 35_000, high: 50_000 });
  });
  test.each([
    ["a word for a number", "| 4 | 5 | 0.20 | 20 |", "| 4 | five | 0.20 | 20 |"],
    ["a column too few", "| 4 | 5 | 0.20 | 20 |", "| 4 | 5 | 0.20 |"],
    ["a column too many", "| 4 | 5 | 0.20 | 20 |", "| 4 | 5 | 0.20 | 20 | 1 |"],
    ["a comma for a point", "| 4 | 5 | 0.20 | 20 |", "| 4 | 5 | 0,20 | -20 |"],
    ["no end", "| 4 | 5 | 0.20 | 20 |", "| 4 | 5 | 0.20 | 20"],
    ["two prices of one model", "claude-opus-5-5, opus", "claude-opus-5, opus"],
    ["no such assumption", "| turns |", "| rounds |"],
    ["low above likely", "| 15 | 30 | 60 |", "| 35 | 30 | 60 |"],
  ])("%s is an error with its line", (_, from, to) => {
    const text = SHIPPED.replace(from, to);
    const line =
      text.split("\n").findIndex((each, index) => each !== SHIPPED.split("\n")[index]) + 1;
    // The second of two rows is the wrong one
    const places = [line, line + 1].map((number) => `x.md:${number}:`);
    let message = "";
    try {
      readPrices(text, "x.md");
    } catch (error) {
      message = (error as Error).message;
    }
    expect(places.some((place) => message.startsWith(place))).toBe(true);
  });
  test.each([["default"], ["turns"]])("without %s it is said what is missing", (name) => {
    const text = SHIPPED.replace(", default", name === "default" ? "" : ", default").replace(
      /\| turns .*\n/,
      name === "turns" ? "" : "$&",
    );
    expect(() => readPrices(text, "x.md")).toThrow(`x.md: there is no ${name}`);
  });
});

describe("what earlier runs tell", () => {
  const minute = 60_000;
  /** A run in which each task took so many minutes; negative: it did not land. */
  const journal = (
    run: string,
    minutes: readonly number[],
    more: Partial<{ byHand: boolean }> = {},
  ): string => {
    const list = minutes.map((_, index) => `${index + 1}. Task\n`).join("");
    const events = minutes.flatMap((took, index): (NewEvent & { at: number })[] => {
      const task = String(index + 1);
      const attempt = `${run}/${index + 1}.1`;
      const result = {
        head: "h",
        tree: "t",
        commits: ["c"],
        paths: [],
        deleted: [],
        handoff: "",
        ...more,
      };
      const begun = { worktree: "w", branch: "b", base: "b", foundBranch: "f" };
      const start = [
        { at: 0, event: "dispatched", task, attempt, phase: "implement" } as const,
        { at: minute, event: "begun", attempt, ...begun } as const,
        { at: minute + Math.abs(took) * minute, event: "submitted", attempt, ...result } as const,
      ];
      const landed = [{ attempt, commits: ["c"] }];
      const proven = { event: "proven", from: "b", to: `n${index}`, tree: "t", landed } as const;
      const end = [
        { ...proven, at: 9e6 } as const,
        { at: 9e6, event: "landed", to: `n${index}` } as const,
      ];
      return took < 0 ? start : [...start, ...end];
    });
    return [startedWith(list, { run }), ...events]
      .map((event) => `${JSON.stringify(event)}\n`)
      .join("");
  };
  const experience = async (...journals: string[]) => {
    const common = await mkdtemp(join(tmpdir(), "minion-runs-"));
    for (const [index, text] of journals.entries()) {
      await mkdir(join(common, `minion/r${index + 1}`), { recursive: true });
      await writeFile(join(common, `minion/r${index + 1}/events.jsonl`), text);
    }
    const found = await experienceOf(common);
    await rm(common, { recursive: true });
    return found;
  };
  test("median and quartiles of what landed, from beginning to handing in", async () =>
    expect(
      await experience(journal("r1", [1, 8, -100]), journal("r2", [2, 3, 4]), "broken\n"),
    ).toEqual({
      minutes: { low: 2, likely: 3, high: 4 },
      basis: "5 attempts of 2 runs",
      tokens: null,
    }));
  test("nothing from less than four, nor from what a person handed in", async () => {
    expect(await experience()).toBeNull();
    expect(await experience(journal("r1", [1, 2, 3]))).toBeNull();
    expect(await experience(journal("r1", [1, 2, 3, 4, 5], { byHand: true }))).toBeNull();
  });
});

describe("as a Mermaid flowchart", () => {
  test("tasks by wave, dependencies, conflicts, errors", () =>
    expect(
      mermaid(
        makePlan(
          "### Task 1: A [DONE]\n### Task 2: B\nFiles: x\n### Task 3: C\nFiles: x\n### Task 4: D\nDepends: 2, 1, 9\n",
          "l",
        ),
      ),
    ).toBe(`flowchart LR
  subgraph w0["done, or in no wave"]
    t0["1: A"]
  end
  subgraph w1["wave 1"]
    t1["2: B"]
    t2["3: C"]
  end
  subgraph w2["wave 2"]
    t3["4: D"]
  end
  t1 --> t3
  t0 --> t3
  t1 -.- t2
  %% line 7: task 4 needs 9: no such task`));
  test("any title stays between its quotes and within 80 columns", () => {
    const titles = [
      '"]; click t0',
      "#quot; `md`",
      "<b>&",
      "%%{init}%%",
      "\u202Eabc\u0007",
      "\u{1F600}".repeat(30),
      "中".repeat(50),
    ];
    const lines = mermaid(
      makePlan(titles.map((title, index) => `${index + 1}. T${title}\n`).join(""), "l"),
    ).split("\n");
    const inner = lines.filter((line) => line.startsWith("    "));
    expect(inner).toHaveLength(titles.length);
    for (const line of inner) {
      expect(line).toMatch(/^ {4}t\d\["(?:[\p{L}\p{M}\p{N} .,:()/_…-]|#\d+;)*"\]$/u);
      expect(width(line)).toBeLessThanOrEqual(80);
    }
    expect(inner[0]).toContain("T#34;#93;#59; click t0");
  });
});
