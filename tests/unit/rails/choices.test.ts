import { describe, expect, test } from "vitest";
import { writeChange } from "../../../rails/foreman/change.ts";
import { choose, dispatchAll, toStart } from "../../../rails/foreman/dispatch.ts";
import type { NewEvent } from "../../../rails/journal/events.ts";
import { changedEvent, heldIn } from "../../../rails/journal/replan.ts";
import { isActive, type RunState, type TaskState } from "../../../rails/journal/state.ts";
import { bestOf, candidatesAt, pickDue } from "../../../rails/journal/variants.ts";
import { changeTo } from "../../../rails/plan/change.ts";
import { numberIn } from "../../../rails/plan/each.ts";
import { makePlan } from "../../../rails/plan/plan.ts";
import type { PlannedTask } from "../../../rails/plan/task.ts";
import type { Own } from "../../../rails/worker/attempt.ts";
import { brief } from "../../../rails/worker/brief.ts";
import { refuseOver } from "../../../rails/worker/hand-in.ts";
import { MemoryJournal } from "./memory-journal.ts";
import { phasesOf, runAfter, SHIPPED, startedWith } from "./run.ts";

// Rules 15 to 17 of choices: a phase with variants, and one that picks.

const PHASES = phasesOf(
  "- {name: ways, writes: false}\n- {name: implement, variants: 3}\n- {name: choose, picks: implement}",
);
const MODELS = phasesOf(
  "- {name: implement, variants: 3, model: [opus, sonnet]}\n- {name: choose, picks: implement}",
);
const LIST = "### Task 1: One\n";
const MEASURED = "### Task 1: One\nMeasure: lowest npm run size\n";
const BASE: NewEvent = { event: "base-checked", red: [] };

const dispatched = (n: number, phase: string, variant = 0): NewEvent => {
  const which = variant > 0 ? { variant } : {};
  return { event: "dispatched", task: "1", attempt: `r1/1.${n}`, phase, ...which };
};
const handedIn = (n: number): NewEvent => {
  const result = { head: `h${n}`, tree: `t${n}`, commits: [`h${n}`], paths: ["a"], deleted: [] };
  return { event: "submitted", attempt: `r1/1.${n}`, handoff: "h", ...result };
};
const began = (n: number): NewEvent => {
  const where = { worktree: "w", branch: "b", base: "b", foundBranch: "f" };
  return { event: "begun", attempt: `r1/1.${n}`, ...where };
};
const failed = (n: number): NewEvent => {
  return { event: "ended", attempt: `r1/1.${n}`, reason: "gate-failed", note: "" };
};
const nothing = (n: number): NewEvent => {
  return { event: "nothing", attempt: `r1/1.${n}`, why: "it is there" };
};

/** The first phase is over, and three were started. */
const STARTED = [
  BASE,
  dispatched(1, "ways"),
  handedIn(1),
  ...[2, 3, 4].map((n) => dispatched(n, "implement", n - 1)),
];
const runOf = (list: string, ...events: NewEvent[]): RunState =>
  runAfter(list, { workflows: { "": PHASES } }, ...events);
const taskAfter = (...events: NewEvent[]): TaskState =>
  runOf(LIST, ...events).tasks.get("1") as TaskState;
const stand = ({ state, reason, phase, result }: TaskState) => [
  state,
  reason,
  phase?.name ?? null,
  result?.id ?? null,
];
const startsOf = (state: RunState) =>
  toStart(state).map(({ variant, named }) => [variant, named?.id]);

describe("rule 15: several at once from one commit", () => {
  test("all are started as slots come, each with a number of its own", () => {
    const state = runOf(LIST, BASE, dispatched(1, "ways"), handedIn(1));
    expect(startsOf(state).map(([variant]) => variant)).toEqual([1, 2, 3]);
    const written: NewEvent[] = [];
    const started = dispatchAll(state, toStart(state), (event) => written.push(event));
    expect(started.map(({ attempt }) => attempt)).toEqual(["r1/1.2", "r1/1.3", "r1/1.4"]);
    expect(new Set(started.map(({ description }) => description)).size).toBe(3);
    expect(written.map((event) => "variant" in event && event.variant)).toEqual([1, 2, 3]);
    const { blueprint } = state;
    const two = {
      ...state,
      blueprint: { ...blueprint, bounds: { ...blueprint.bounds, workers: 2 } },
    };
    expect(choose(two).map(({ variant }) => variant)).toEqual([1, 2]);
  });

  test("where one is at work, the others are still to come", () => {
    const state = runOf(
      LIST,
      BASE,
      dispatched(1, "ways"),
      handedIn(1),
      dispatched(2, "implement", 2),
    );
    const launched = { event: "launched", attempt: "r1/1.2", agent: "a" } as const;
    const task = runOf(
      LIST,
      BASE,
      dispatched(1, "ways"),
      handedIn(1),
      dispatched(2, "implement", 2),
      launched,
    );
    expect(task.tasks.get("1")?.state).toBe("running");
    expect(startsOf(task).map(([variant]) => variant)).toEqual([1, 3]);
    expect(startsOf(state)).toEqual([
      [2, "r1/1.2"],
      [1, undefined],
      [3, undefined],
    ]);
  });

  test("one that fails is out; what was handed in waits for the others", () => {
    expect(stand(taskAfter(...STARTED, failed(2), handedIn(3)))).toEqual([
      "running",
      null,
      "implement",
      null,
    ]);
    const all = taskAfter(...STARTED, failed(2), handedIn(3), handedIn(4));
    expect(stand(all)).toEqual(["ready", null, "choose", null]);
    expect(candidatesAt(all, PHASES[1] as (typeof PHASES)[0]).map(({ id }) => id)).toEqual([
      "r1/1.3",
      "r1/1.4",
    ]);
  });

  test("only if all fail one worker tries again, and all of them count as one failure", () => {
    const all = taskAfter(...STARTED, failed(2), failed(3), failed(4));
    expect(stand(all).slice(0, 3)).toEqual(["verify-failed", "gate-failed", "implement"]);
    expect(all.wants).toBe(1);
    const alone = [...STARTED, failed(2), failed(3), failed(4), dispatched(5, "implement")];
    expect(stand(taskAfter(...alone, handedIn(5)))).toEqual(["mergeable", null, null, "r1/1.5"]);
    expect(taskAfter(...alone, failed(5)).state).toBe("needs-human");
  });

  test("one that was lost by nobody's fault is started again", () => {
    const lost = { event: "ended", attempt: "r1/1.3", reason: "session-lost", note: "" } as const;
    const launched = { event: "launched", attempt: "r1/1.3", agent: "a" } as const;
    const state = runOf(LIST, ...STARTED, launched, lost);
    expect(startsOf(state).filter(([, named]) => !named)).toEqual([[2, undefined]]);
  });

  test("one that was stopped is started again once the task may go on", () => {
    const begun = [2, 3, 4].map((n) => began(n));
    const stopped = [3, 4].map((n) => ({ ...failed(n), reason: "stopped" }) as NewEvent);
    const stop: NewEvent = { event: "stopped", task: "1", question: "" };
    const events = [...STARTED, ...begun, handedIn(2), ...stopped, stop];
    expect(startsOf(runOf(LIST, ...events))).toEqual([]);
    const onward = runOf(LIST, ...events, { event: "retried", task: "1", words: "" });
    expect(startsOf(onward).map(([variant]) => variant)).toEqual([2, 3]);
  });

  test("a change before any of them began names all of them anew", async () => {
    const journal = new MemoryJournal("/none", "r1");
    await journal.add(startedWith(LIST, { workflows: { "": PHASES } }), ...STARTED);
    const state = await journal.state();
    const [task] = makePlan("### Task 1: One\nFiles: a\n", "list").tasks;
    const tasks = [task as PlannedTask];
    const event = changedEvent(state, changeTo(heldIn(state), []), tasks);
    await writeChange(journal, () => ({ event, added: [], reworded: ["1"], findings: [] }));
    const { attempts } = await journal.state();
    const ends = [...attempts.values()].map(({ over }) => over?.reason);
    expect(ends).toEqual([undefined, "changed", "changed", "changed"]);
  });

  test("they differ: each has the model that stands for its number", () => {
    const state = runAfter(LIST, { workflows: { "": MODELS } }, BASE);
    const started = dispatchAll(state, toStart(state), () => {});
    expect(started.map(({ model }) => model)).toEqual(["opus", "sonnet", "opus"]);
  });
});

describe("rule 16: one is picked", () => {
  const all = [...STARTED, handedIn(2), handedIn(3), handedIn(4)];
  const pick = { event: "picked", task: "1", attempt: "r1/1.3", by: "judge" } as const;

  test("by a judge, who sees all of them in an order drawn by lot that the journal names", () => {
    const state = runOf(LIST, ...all);
    expect(pickDue(state.tasks.get("1") as TaskState)).toBeNull();
    const orders = Array.from({ length: 40 }, () => {
      const written: NewEvent[] = [];
      const [start] = dispatchAll(state, toStart(state), (event) => written.push(event));
      expect(start?.agent).toBe("minion:minion-verifier");
      const [event] = written;
      return event?.event === "dispatched" ? (event.order ?? []) : [];
    });
    for (const order of orders) expect([...order].sort()).toEqual(["r1/1.2", "r1/1.3", "r1/1.4"]);
    expect(new Set(orders.map((order) => order.join())).size).toBeGreaterThan(2);
  });

  test("by what Measure: says of each, and no worker is started for it", () => {
    const state = runOf(MEASURED, ...all);
    const task = state.tasks.get("1") as TaskState;
    expect(pickDue(task)?.name).toBe("implement");
    expect(toStart(state)).toEqual([]);
    const measured = (n: number, value: number | null): NewEvent => {
      return { event: "measured", attempt: `r1/1.${n}`, value, output: "o" };
    };
    const known = runOf(MEASURED, ...all, measured(2, null), measured(3, 7), measured(4, 7));
    const candidates = candidatesAt(known.tasks.get("1") as TaskState, task.phases[1] as never);
    expect(bestOf(candidates, "lowest x")?.id).toBe("r1/1.3");
    expect(bestOf(candidates, "highest x")?.id).toBe("r1/1.3");
    expect(bestOf(candidates.slice(0, 1), "lowest x")).toBeUndefined();
  });

  test("by a judge, where nothing came of measuring any of them", () => {
    const nothingIn = [2, 3, 4].map((n): NewEvent => {
      return { event: "measured", attempt: `r1/1.${n}`, value: null, output: "o" };
    });
    const some = runOf(MEASURED, ...all, ...nothingIn.slice(1));
    expect(pickDue(some.tasks.get("1") as TaskState)?.name).toBe("implement");
    const none = runOf(MEASURED, ...all, ...nothingIn);
    expect(pickDue(none.tasks.get("1") as TaskState)).toBeNull();
    expect(toStart(none)).toHaveLength(1);
    // Another command may say something.
    const [task] = makePlan("### Task 1: One\nMeasure: highest npm run size\n", "list").tasks;
    const tasks = [task as PlannedTask];
    const other = changedEvent(none, changeTo(heldIn(none), []), tasks);
    const anew = runOf(MEASURED, ...all, ...nothingIn, other);
    expect(pickDue(anew.tasks.get("1") as TaskState)?.name).toBe("implement");
  });

  test("what was picked goes on to landing", () => {
    expect(stand(taskAfter(...all, pick))).toEqual(["mergeable", null, null, "r1/1.3"]);
  });

  test("and a phase after the choice is told what that one left, and no other", () => {
    const phases = phasesOf(
      "- {name: ways, writes: false}\n- {name: implement, variants: 3}\n- {name: choose, picks: implement}\n- name: document",
    );
    const said = (n: number) => ({ ...handedIn(n), handoff: `This is ${n}.` }) as NewEvent;
    const made = [...STARTED, said(2), said(3), said(4), pick, dispatched(5, "document")];
    const state = runAfter(LIST, { workflows: { "": phases } }, ...made);
    const own = { state, attempt: state.attempts.get("r1/1.5"), journal: { folder: "" } };
    const told = brief(own as Own, () => undefined);
    expect(told.match(/This is \d/g)).toEqual(["This is 3"]);
  });

  test("what then does not land is redone by one worker", () => {
    const refused = {
      event: "not-landed",
      attempt: "r1/1.3",
      reason: "line-red",
      note: "",
    } as const;
    const task = taskAfter(...all, pick, refused);
    expect(stand(task).slice(0, 3)).toEqual(["verify-failed", "line-red", "implement"]);
    const events = [...all, pick, refused];
    expect(startsOf(runOf(LIST, ...events)).map(([variant]) => variant)).toEqual([0]);
    const again = taskAfter(...events, dispatched(5, "implement"), handedIn(5));
    expect(stand(again)).toEqual(["mergeable", null, null, "r1/1.5"]);
  });

  test("what was handed in late is none of them once somebody chooses, or took its place", () => {
    const limit = { ...failed(3), reason: "rate-limit" } as NewEvent;
    const isTaken = (...events: NewEvent[]): boolean => {
      const state = runOf(LIST, ...STARTED, ...[2, 3, 4].map(began), limit, ...events);
      try {
        refuseOver(state, "r1/1.3");
        return true;
      } catch {
        return false;
      }
    };
    expect(isTaken(handedIn(2))).toBe(true);
    expect(isTaken(dispatched(5, "implement", 2))).toBe(false);
    const closed: NewEvent = { event: "variants-closed", task: "1" };
    expect(isTaken(handedIn(2), handedIn(4), closed, dispatched(5, "choose"))).toBe(false);
  });

  test("a choice that names none is made once more", () => {
    const judged = [...all, dispatched(5, "choose"), handedIn(5)];
    expect(stand(taskAfter(...judged))).toEqual(["ready", null, "choose", null]);
  });

  test("a person's land of one leaves nobody at the others", () => {
    const events = [...STARTED, began(2), handedIn(2), began(3)];
    const byHand = { ...handedIn(2), byHand: true } as NewEvent;
    const state = runOf(LIST, ...events, byHand);
    expect([...state.attempts.values()].filter(isActive)).toEqual([]);
    expect(startsOf(state)).toEqual([]);
  });

  test("a person's land of one that was dropped takes that as it is, and begins nothing anew", () => {
    const dropped: NewEvent = { event: "dropped", tasks: ["1"] };
    const byHand = { ...handedIn(4), byHand: true } as NewEvent;
    const state = runOf(LIST, ...all, dropped, byHand);
    expect(stand(state.tasks.get("1") as TaskState)).toEqual(["mergeable", null, null, "r1/1.4"]);
    expect(startsOf(state)).toEqual([]);
  });

  test("a person's land of another one overrides", () => {
    const byHand = { ...handedIn(4), byHand: true } as NewEvent;
    expect(stand(taskAfter(...all, byHand))).toEqual(["mergeable", null, null, "r1/1.4"]);
    expect(stand(taskAfter(...all, pick, byHand))).toEqual(["mergeable", null, null, "r1/1.4"]);
  });
});

test.each([
  ["size: 12 kB", 12],
  ["1 of 3\n", 3],
  [".50\n", 0.5],
  ["p95-12", 12],
  ["from 3 to -4", -4],
  ["\u001b[32m1.5e3\u001b[0m", 1500],
  ["none", null],
])("Measure: takes the last number of %j", (output, value) => {
  expect(numberIn(output)).toBe(value);
});

test("Measure: is read with and without the marks of code", () => {
  const read = (measure: string) =>
    makePlan(`### Task 1: One\nMeasure: ${measure}\n`, "list").tasks[0]?.measure;
  expect(read("lowest wc -c < a")).toBe("lowest wc -c < a");
  expect(read("highest `wc -c < a`")).toBe("highest wc -c < a");
  expect(read("`lowest wc -c < a`")).toBe("lowest wc -c < a");
});

describe("rule 17: out of money, or nothing to do", () => {
  test("no more are started, and what was handed in is chosen from", () => {
    const some = [...STARTED.slice(0, 5), handedIn(2), handedIn(3)];
    const closed = { event: "variants-closed", task: "1" } as const;
    expect(taskAfter(...some).state).toBe("ready");
    expect(taskAfter(...some).wants).toBe(1);
    const state = runOf(MEASURED, ...some, closed);
    expect(pickDue(state.tasks.get("1") as TaskState)?.name).toBe("implement");
    expect(stand(taskAfter(...some, closed)).slice(0, 3)).toEqual(["ready", null, "choose"]);
  });

  test("no dispatch is left: the rails choose all the same, where no worker has to", () => {
    const { bounds, ...rest } = SHIPPED;
    const blueprint = { ...rest, bounds: { ...bounds, dispatches: 1 } };
    const again = [BASE, dispatched(1, "ways"), failed(1), dispatched(5, "ways"), handedIn(5)];
    const events = [...again, ...STARTED.slice(3), handedIn(2), handedIn(3), handedIn(4)];
    const state = runAfter(MEASURED, { workflows: { "": PHASES }, blueprint }, ...events);
    expect(state.left).toBe(0);
    expect(pickDue(state.tasks.get("1") as TaskState)?.name).toBe("implement");
  });

  test("all of them say that there is nothing to do: it is skipped", () => {
    expect(taskAfter(...STARTED, nothing(2), nothing(3), nothing(4)).state).toBe("skipped");
    expect(taskAfter(...STARTED, nothing(2), failed(3), nothing(4)).state).toBe("verify-failed");
  });
});
