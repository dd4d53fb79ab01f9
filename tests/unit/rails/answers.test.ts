import { describe, expect, test } from "vitest";
import type { NewEvent } from "../../../rails/journal/events.ts";
import { changedEvent, heldIn } from "../../../rails/journal/replan.ts";
import { dependentsLeft, type RunState, type TaskState } from "../../../rails/journal/state.ts";
import { changeTo, readChange } from "../../../rails/plan/change.ts";
import { phasesOf, runAfter } from "./run.ts";

// A plan that lives: what a person answers, takes back, drops and begins anew.

const LIST = "### Task 1: One\nFiles: src/\n### Task 2: Two\nDepends: 1\n";
const TWO = { workflows: { "": phasesOf("- name: test\n- name: implement") } };

const dispatched = (n: number, phase = "implement"): NewEvent => {
  return { event: "dispatched", task: "1", attempt: `r1/1.${n}`, phase };
};
const handedIn = (n: number): NewEvent => {
  const result = { head: `h${n}`, tree: `t${n}`, commits: [`h${n}`], paths: [], deleted: [] };
  return { event: "submitted", attempt: `r1/1.${n}`, handoff: "h", ...result };
};
const stand = ({ state, reason, stop }: TaskState) => [state, reason, stop];

type Step = NewEvent | ((state: RunState) => NewEvent);
function runOf(...steps: readonly Step[]): RunState {
  const events: NewEvent[] = [];
  for (const step of steps)
    events.push(typeof step === "function" ? step(runAfter(LIST, ...events)) : step);
  return runAfter(LIST, ...events);
}
const taskOf = (...steps: readonly Step[]): TaskState =>
  runOf(...steps).tasks.get("1") as TaskState;

/** A change in words; taken back where `isUndo`. */
const changed =
  (text: string, isUndo = false) =>
  (state: RunState): NewEvent => {
    const change = readChange(text, "it", heldIn(state), {});
    const tasks = change.all.filter(({ id }) => change.reworded.includes(id));
    return changedEvent(state, change, tasks, { isUndo });
  };
const undone =
  (...before: readonly Step[]) =>
  (state: RunState): NewEvent => {
    const planned = [...runOf(...before).tasks.values()].map((task) => task.planned);
    return changedEvent(state, changeTo(heldIn(state), []), planned, { isUndo: true });
  };

describe("a question", () => {
  const ask = changed("### Task 1: One\nAsk: cents?\n");
  const answered: NewEvent = { event: "retried", task: "1", words: "cents" };

  test("that a change asked goes with the change", () => {
    expect(stand(taskOf(ask))).toEqual(["needs-human", "question", "cents?"]);
    expect(stand(taskOf(ask, undone()))).toEqual(["ready", null, null]);
  });

  test("that was answered is not asked again by other words, nor where they are taken back", () => {
    const reworded = changed("### Task 1: Other\n");
    expect(stand(taskOf(ask, answered, reworded))).toEqual(["ready", null, null]);
    expect(stand(taskOf(ask, answered, reworded, undone(ask, answered)))).toEqual([
      "ready",
      null,
      null,
    ]);
    expect(stand(taskOf(ask, reworded))).toEqual(["needs-human", "question", "cents?"]);
  });
});

test("dropped after it did not land, and begun anew: from its first phase", () => {
  const task = runAfter(
    "### Task 1: One\n",
    TWO,
    dispatched(1, "test"),
    handedIn(1),
    dispatched(2),
    handedIn(2),
    { event: "not-landed", attempt: "r1/1.2", reason: "line-red", note: "" },
    { event: "dropped", tasks: ["1"] },
    { event: "retried", task: "1", words: "" },
  ).tasks.get("1");
  expect([task?.state, task?.phase?.name]).toEqual(["ready", "test"]);
});

test("what was skipped stands in the way of no drop, and cannot be changed", () => {
  const second: NewEvent[] = [
    { event: "dispatched", task: "2", attempt: "r1/2.1", phase: "implement" },
    { event: "nothing", attempt: "r1/2.1", why: "it is there" },
  ];
  const state = runOf(...second);
  expect(state.tasks.get("2")?.state).toBe("skipped");
  expect(dependentsLeft(state, ["1"])).toEqual([]);
  expect(heldIn(state).find(({ planned }) => planned.id === "2")?.fixed).toContain("skipped");
});

describe("what a change says", () => {
  test("a file in a folder that was named is narrower", () => {
    const { loosened } = readChange(
      "### Task 1: One\nFiles: src/a.ts\n",
      "it",
      heldIn(runOf()),
      {},
    );
    expect(loosened).toEqual([]);
    const wide = readChange("### Task 1: One\nFiles: lib/a.ts\n", "it", heldIn(runOf()), {});
    expect(wide.loosened).toEqual(["task 1 gets lib/a.ts under Files:"]);
  });

  test("what it leaves out is not missing", () => {
    const { findings } = readChange("### Task 1: Other\n", "it", heldIn(runOf()), {});
    expect(findings.map(({ code }) => code)).not.toContain("no-files");
  });
});

test("the judge's pass holds for what was judged, and not for what landed since", () => {
  const more = { successWords: "all is well", fresh: true };
  const landed = (n: number, to: string, from: string): NewEvent[] => [
    {
      event: "proven",
      from,
      to,
      tree: "t",
      landed: [{ attempt: `r1/${n}.1`, commits: ["h"] }],
    },
    { event: "landed", to },
  ];
  const work = (n: number): NewEvent[] => [
    { event: "dispatched", task: `${n}`, attempt: `r1/${n}.1`, phase: "implement" },
    { ...(handedIn(1) as object), attempt: `r1/${n}.1` } as NewEvent,
  ];
  const end = (tip: string): NewEvent => ({ event: "end-checked", tip, red: null });
  const judged: NewEvent[] = [
    { event: "dispatched", task: "success", attempt: "r1/success.1", phase: "judge" },
    {
      ...(handedIn(1) as object),
      attempt: "r1/success.1",
      head: "l2",
      verdict: "pass",
    } as NewEvent,
  ];
  const events = [
    ...work(1),
    ...landed(1, "l1", "b"),
    ...work(2),
    ...landed(2, "l2", "l1"),
    end("l2"),
    ...judged,
  ];
  const state = runAfter(LIST, more, ...events);
  expect(state.tasks.get("success")?.state).toBe("landed");
  const change = readChange("### Task 3: Three\nFiles: x\n", "it", heldIn(state), {});
  const added = change.all.filter(({ id }) => id === "3");
  const further = [
    changedEvent(state, change, added),
    ...work(3),
    ...landed(3, "l3", "l2"),
    end("l3"),
  ];
  expect(runAfter(LIST, more, ...events, ...further).tasks.get("success")?.state).toBe("ready");
});
