import { describe, expect, test } from "vitest";
import { type Fit, readWorkflow, type Workflow } from "../../../rails/blueprint/workflow.ts";
import type { NewEvent } from "../../../rails/journal/events.ts";
import { phasesFor, reviewIn, stepsOf, straight, wayFor } from "../../../rails/journal/phases.ts";
import type { RunState, TaskState } from "../../../rails/journal/state.ts";
import { makePlan } from "../../../rails/plan/plan.ts";
import { chooseWorkflow } from "../../../rails/plan/risk.ts";
import type { Task } from "../../../rails/plan/task.ts";
import { ONE_PHASE, phasesOf, runAfter } from "./run.ts";

const FULL = phasesOf(
  "- {name: plan, writes: false}\n- name: implement\n- {name: review, writes: false, back: fix, risk: medium}\n- name: fix",
);
const names = (phases: readonly { name: string }[]) => phases.map(({ name }) => name).join(" ");

const dispatched = (n: number, phase: string): NewEvent => {
  return { event: "dispatched", task: "1", attempt: `r1/1.${n}`, phase };
};
const submitted = (n: number, verdict?: "pass" | "fail"): NewEvent => {
  const result = { head: `h${n}`, tree: "t", commits: [], paths: [], deleted: [] };
  return {
    event: "submitted",
    attempt: `r1/1.${n}`,
    handoff: "h",
    ...result,
    ...(verdict ? { verdict } : {}),
  };
};
const notLanded = (n: number): NewEvent => {
  return { event: "not-landed", attempt: `r1/1.${n}`, reason: "conflict", note: "" };
};
/** The task, with all phases, after some events. */
function taskAfter(...events: NewEvent[]): TaskState {
  const list = "1. One\n   Risk: medium\n";
  const state: RunState = runAfter(list, { workflows: { "": FULL } }, ...events);
  return state.tasks.get("1") as TaskState;
}
const stand = (task: TaskState) => [task.state, task.phase?.name ?? null, task.result?.id ?? null];

describe("phases by risk", () => {
  test("one that mends findings is there only together with what finds them", () => {
    expect(names(phasesFor(FULL, ""))).toBe("plan implement");
    expect(names(phasesFor(FULL, "low"))).toBe("plan implement");
    expect(names(phasesFor(FULL, "medium"))).toBe("plan implement review fix");
    expect(names(straight(FULL))).toBe("plan implement review");
  });
});

describe("the review of a workflow that has none", () => {
  const reviews = { medium: reviewIn(FULL, "medium"), high: reviewIn(FULL, "high") };
  const reviewed = (list: string, ...events: NewEvent[]) =>
    runAfter(list, { workflows: ONE_PHASE, reviews }, ...events).tasks.get("1") as TaskState;
  const touched = (n: number, path: string): NewEvent =>
    ({ ...submitted(n), paths: [path] }) as NewEvent;
  const made = [dispatched(1, "implement"), touched(1, "src/auth/a.ts")];

  test("is there for a risk that is said, and counted", () => {
    for (const [risk, phases] of [
      ["low", "implement"],
      ["medium", "implement review fix"],
      ["high", "implement review fix"],
    ] as const) {
      expect(names(reviewed(`1. One\n   Risk: ${risk}\n`).phases)).toBe(phases);
      expect(stepsOf({ workflows: ONE_PHASE, reviews }, { workflow: "", risk })).toBe(
        risk === "low" ? 1 : 2,
      );
    }
    expect(stepsOf({ workflows: { "": FULL }, reviews }, { workflow: "", risk: "high" })).toBe(3);
  });
  test("comes after work that shows the risk, before a person is asked", () => {
    const low = "1. One\n   Risk: low\n2. Two\n";
    expect(stand(reviewed(low, dispatched(1, "implement"), touched(1, "src/a.ts")))[0]).toBe(
      "mergeable",
    );
    expect(stand(reviewed(low, ...made))).toEqual(["ready", "review", "r1/1.1"]);
    const found = [...made, dispatched(2, "review"), submitted(2, "fail")];
    expect(stand(reviewed(low, ...found))).toEqual(["ready", "fix", "r1/1.1"]);
    const fixed = [...found, dispatched(3, "fix"), touched(3, "src/auth/a.ts")];
    expect(stand(reviewed(low, ...fixed))).toEqual(["ready", "review", "r1/1.3"]);
    const passed = [...fixed, dispatched(4, "review"), submitted(4, "pass")];
    expect(reviewed(low, ...passed)).toMatchObject({ state: "needs-human", reason: "high-risk" });
    // What then does not land is made and reviewed anew.
    const again = [...passed, { ...submitted(3), byHand: true } as NewEvent, notLanded(3)];
    expect(reviewed(low, ...again)).toMatchObject({ state: "ready", phase: { name: "implement" } });
  });
  test("is there for the task that mends what is red at the end, too", () => {
    const landed = { attempt: "r1/1.1", commits: ["c"] };
    const mender = { task: "end", attempt: "r1/end.1" };
    const { tasks } = runAfter(
      ...([
        "1. One\n",
        { workflows: ONE_PHASE, reviews },
        dispatched(1, "implement"),
        submitted(1),
      ] as const),
      ...([
        { event: "proven", from: "b", to: "n", tree: "t", landed: [landed] },
        { event: "landed", to: "n" },
      ] as const),
      { event: "end-checked", tip: "n", red: "slow" },
      { event: "dispatched", ...mender, phase: "implement" },
      { ...touched(1, "src/auth/a.ts"), attempt: mender.attempt } as NewEvent,
    );
    expect(tasks.get("end")).toMatchObject({
      state: "ready",
      risk: "high",
      phase: { name: "review" },
    });
  });
  test("stays the same when the fix shows a greater risk", () => {
    const { risk, way } = reviewed("1. One\n   Risk: medium\n", ...made);
    expect([risk, names(way)]).toEqual(["high", "implement review fix"]);
  });
  test.each([
    [
      "- name: implement",
      "- name: implement\n- {name: look, writes: false, back: implement}",
      "implement look implement-too",
    ],
    ["- name: implement\n- {name: review, writes: false}", "", "implement review review-too fix"],
    [
      "- name: implement\n- {name: own, writes: false, back: implement, risk: high}",
      "",
      "implement own",
    ],
  ])("%s", (own, other, all) => {
    const way = wayFor(phasesOf(own), "medium", {
      medium: other ? reviewIn(phasesOf(other), "medium") : reviews.medium,
    });
    expect(names(way)).toBe(all);
    // Whoever mends is there for findings alone.
    expect(names(straight(way))).not.toMatch(/fix|implement-too/);
  });
});

describe("where a task stands", () => {
  const made = [dispatched(1, "plan"), submitted(1), dispatched(2, "implement"), submitted(2)];
  const found = [...made, dispatched(3, "review"), submitted(3, "fail")];
  test("each phase after the one before", () => {
    expect(stand(taskAfter())).toEqual(["ready", "plan", null]);
    expect(stand(taskAfter(dispatched(1, "plan")))).toEqual(["running", "plan", null]);
    expect(stand(taskAfter(...made.slice(0, 2)))).toEqual(["ready", "implement", null]);
    expect(stand(taskAfter(...made))).toEqual(["ready", "review", "r1/1.2"]);
    expect(stand(taskAfter(...made, dispatched(3, "review"), submitted(3, "pass")))).toEqual([
      "mergeable",
      null,
      "r1/1.2",
    ]);
  });
  test("findings go back once, and are looked at again", () => {
    expect(stand(taskAfter(...found))).toEqual(["ready", "fix", "r1/1.2"]);
    const fixed = [...found, dispatched(4, "fix"), submitted(4)];
    expect(stand(taskAfter(...fixed))).toEqual(["ready", "review", "r1/1.4"]);
    const twice = [...fixed, dispatched(5, "review"), submitted(5, "fail")];
    expect(taskAfter(...twice)).toMatchObject({ state: "needs-human", reason: "findings" });
    expect(stand(taskAfter(...twice, { event: "retried", task: "1", words: "" }))).toEqual([
      "ready",
      "fix",
      "r1/1.4",
    ]);
  });
  test("what did not land is made anew, and judged anew", () => {
    const passed = [...made, dispatched(3, "review"), submitted(3, "pass"), notLanded(2)];
    expect(taskAfter(...passed)).toMatchObject({
      state: "ready",
      reason: "conflict",
      phase: { name: "implement" },
    });
    expect(stand(taskAfter(...passed, dispatched(4, "implement"), submitted(4)))).toEqual([
      "ready",
      "review",
      "r1/1.4",
    ]);
  });
  test("a person's word ends it, whatever phase it is in", () => {
    expect(stand(taskAfter(...found, { ...submitted(3), byHand: true } as NewEvent))).toEqual([
      "mergeable",
      null,
      "r1/1.3",
    ]);
  });
  test("a high risk waits for a person, also one that only the work shows", () => {
    const touched = (path: string): NewEvent => ({ ...submitted(2), paths: [path] }) as NewEvent;
    const from = [dispatched(1, "plan"), submitted(1), dispatched(2, "implement")];
    const judged = [dispatched(3, "review"), submitted(3, "pass")];
    expect(taskAfter(...from, touched("src/a.ts"), ...judged)).toMatchObject({
      state: "mergeable",
      risk: "medium",
    });
    const risky = taskAfter(...from, touched("db/migrations/1.sql"), ...judged);
    expect(risky).toMatchObject({
      state: "needs-human",
      reason: "high-risk",
      risk: "high",
      note: "h",
    });
    const low = (path: string) =>
      runAfter(
        "1. One\n   Risk: low\n",
        { workflows: { "": FULL } },
        ...from,
        touched(path),
      ).tasks.get("1");
    expect(low("src/a.ts")).toMatchObject({ state: "mergeable" });
    expect(low("src/auth/a.ts")).toMatchObject({ state: "ready", phase: { name: "review" } });
  });
  test("a phase that only the work made due goes its way like any other", () => {
    const touched = { ...submitted(1), paths: ["src/auth/a.ts"] } as NewEvent;
    const made = [dispatched(1, "implement"), touched, dispatched(2, "review")];
    const list = "1. One\n   Risk: low\n";
    const workflows = {
      "": phasesOf(
        "- name: implement\n- {name: review, writes: false, back: fix, risk: medium}\n- name: fix",
      ),
    };
    const now = (...more: NewEvent[]) =>
      runAfter(list, { workflows }, ...made, ...more).tasks.get("1") as TaskState;
    expect(stand(now())).toEqual(["running", "review", "r1/1.1"]);
    expect(stand(now(submitted(2, "fail")))).toEqual(["ready", "fix", "r1/1.1"]);
    expect(now(submitted(2, "pass"))).toMatchObject({ state: "needs-human", reason: "high-risk" });
  });
  test("failures count for their own phase", () => {
    const ended = (n: number): NewEvent => ({
      event: "ended",
      attempt: `r1/1.${n}`,
      reason: "unproven",
      note: "",
    });
    expect(taskAfter(dispatched(1, "plan"), ended(1))).toMatchObject({ state: "verify-failed" });
    const planned = [
      dispatched(1, "plan"),
      ended(1),
      dispatched(2, "plan"),
      submitted(2),
      dispatched(3, "implement"),
    ];
    expect(taskAfter(...planned, ended(3))).toMatchObject({
      state: "verify-failed",
      phase: { name: "implement" },
    });
  });
});

describe("a workflow's file", () => {
  const APART = "phases:\n  - {name: p, writes: false}\n  - {name: a, variants: 2}\n";
  const wrong = (yaml: string) => {
    try {
      readWorkflow("w", `---\nwhen: w\n${yaml}\n---\n`, "w.md");
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };
  test.each([
    ["phases:\n  - name: a\n    wirtes: false", /^w\.md:5: phases\.0\.wirtes: /],
    ["phases:\n  - {name: a, risk: high}", /none where the risk is low/],
    [
      "phases:\n  - {name: a, writes: false}\n  - {name: b, risk: high}",
      /none where the risk is low/,
    ],
    ["phases:\n  - {name: a, rounds: 51}", /phases\.0\.rounds/],
    ["phases:\n  - {name: a, writes: false, rounds: 3}", /a has no use for rounds/],
    ["phases:\n  - {name: a, variants: 6}", /phases\.0\.variants/],
    ["phases:\n  - {name: a, variants: 3}", /the phase after a has to pick/],
    [
      "phases:\n  - {name: a, variants: 3}\n  - {name: c, picks: a}",
      /the variants of a would be alike/,
    ],
    [
      "phases:\n  - {name: a, variants: 3, model: [opus]}\n  - {name: c, picks: a}",
      /the variants of a would be alike/,
    ],
    [
      "phases:\n  - {name: p, writes: false}\n  - {name: a, variants: 2, rounds: 2}\n  - {name: c, picks: a}",
      /a has no use for rounds/,
    ],
    ["phases:\n  - name: a\n  - {name: c, picks: a}", /a is no phase with variants just before c/],
    [`${APART}  - name: b\n  - {name: c, picks: a}`, /a is no phase with variants just before c/],
    [`${APART}  - {name: c, picks: a, risk: high}`, /from the same risk on/],
    [
      `${APART}  - {name: c, picks: a}\n  - {name: d, variants: 2}\n  - {name: e, picks: d}`,
      /a task chooses once: d is the second/,
    ],
    [
      `${APART}  - {name: c, picks: a}\n  - {name: r, writes: false, back: a}`,
      /a has variants, of which one was picked/,
    ],
    ["phases:\n  - {name: a, tasks: 3}", /rounds: says how often it comes/],
    ["phases:\n  - {name: a, tasks: 3, rounds: 2}\n  - name: b", /it stands alone/],
    ["phases:\n  - {name: a, tasks: 3, rounds: 2, writes: true}", /does not write/],
    [
      "phases:\n  - name: a\n  - {name: r, writes: false, back: b}",
      /^w\.md:5: .*b is no phase that writes/,
    ],
    ["phases:\n  - name: a\n  - {name: r, back: a}", /say writes: false/],
    ["phases:\n  - name: a\n  - name: a", /two phases are called a/],
    ["phases: []", /^w\.md:3: /],
    ["for:\n  - words: ['(']\nphases:\n  - name: a", /^w\.md:4: .*no regular expression/],
    ["for:\n  - risk: hihg\nphases:\n  - name: a", /^w\.md:4: for\.0\.risk/],
  ])("%s", (yaml, message) => {
    expect(wrong(yaml)).toMatch(message);
  });
});

describe("which workflow", () => {
  const flow = (name: string, ...fits: Fit[]): Workflow => ({
    name,
    when: "",
    for: fits,
    phases: FULL,
  });
  const order = [
    flow("secure", { risk: "high" }, { words: ["\\bpassword"] }, { paths: ["**/auth/"] }),
    flow("quick", { risk: "low", files: 1 }),
    flow("default"),
  ];
  const task = (text: string) => makePlan(`1. ${text}`, "l").tasks[0] as Task;
  test.each([
    ["One\n   Risk: high", "secure", "risk high"],
    ["Reset of Passwords", "secure", "«Password»"],
    ["One\n   Files: src/auth/a.ts", "secure", "src/auth/a.ts"],
    ["One\n   Files: src/a.ts\n   Risk: low", "quick", "risk low, 1 file"],
    ["One\n   Files: src/a.ts, b\n   Risk: low", "default", "no other fits"],
    ["One\n   Risk: low", "default", "no other fits"],
    ["One", "default", "no other fits"],
  ])("%s", (text, name, why) => {
    const choice = chooseWorkflow(task(text), order, "");
    expect([choice.workflow.name, choice.why]).toEqual([name, why]);
  });
});
