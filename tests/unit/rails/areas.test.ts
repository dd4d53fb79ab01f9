import { describe, expect, test } from "vitest";
import type { Workflow } from "../../../rails/blueprint/workflow.ts";
import { changeWith, undoneIn } from "../../../rails/foreman/change.ts";
import { toStart } from "../../../rails/foreman/dispatch.ts";
import type { Place } from "../../../rails/git/repository.ts";
import type { EventData, NewEvent } from "../../../rails/journal/events.ts";
import { listsDue, wholesDue } from "../../../rails/journal/made.ts";
import { changedEvent, heldIn } from "../../../rails/journal/replan.ts";
import {
  type AttemptState,
  isActive,
  type RunState,
  type TaskState,
} from "../../../rails/journal/state.ts";
import { drop, leaveOut } from "../../../rails/line/drop.ts";
import { changeTo } from "../../../rails/plan/change.ts";
import { linesIn, listedTasks } from "../../../rails/plan/each.ts";
import { makePlan } from "../../../rails/plan/plan.ts";
import type { PlannedTask } from "../../../rails/plan/task.ts";
import type { Fault } from "../../../rails/program/fault.ts";
import { areaOf } from "../../../rails/worker/area-brief.ts";
import type { Own } from "../../../rails/worker/attempt.ts";
import { MemoryJournal } from "./memory-journal.ts";
import { ONE_PHASE, phasesOf, runAfter, SHIPPED, startedWith } from "./run.ts";

// Rules 18 to 24: areas, and tasks that a command lists.

const WORKFLOWS = {
  ...ONE_PHASE,
  area: phasesOf("- {name: plan, tasks: 3, rounds: 3}"),
  look: phasesOf("- {name: look, writes: false}"),
};
const LIST = "### Task A: Area\nWorkflow: area\nFiles: src/\n### Task 2: Two\nDepends: A\n";
const BASE: NewEvent = { event: "base-checked", red: [] };

const dispatched = (task: string, n = 1, phase = "implement"): NewEvent => {
  return { event: "dispatched", task, attempt: `r1/${task}.${n}`, phase };
};
const begun = (task: string, n = 1): NewEvent => {
  const where = { worktree: "w", branch: "b", base: "b", foundBranch: "f" };
  return { event: "begun", attempt: `r1/${task}.${n}`, ...where };
};
const handedIn = (task: string, n = 1): NewEvent => {
  const result = { head: "h", tree: "t", commits: ["h"], paths: [], deleted: [] };
  return { event: "submitted", attempt: `r1/${task}.${n}`, handoff: "h", ...result };
};
const landed = (task: string, n = 1): NewEvent[] => {
  const to = `l${task}${n}`;
  const landing = [{ attempt: `r1/${task}.${n}`, commits: ["h"] }];
  return [
    { event: "proven", from: "b", to, tree: "t", landed: landing },
    { event: "landed", to },
  ];
};
const done = (task: string): NewEvent[] => [
  dispatched(task),
  begun(task),
  handedIn(task),
  ...landed(task),
];
const failed = (task: string, n: number): NewEvent[] => [
  dispatched(task, n),
  begun(task, n),
  { event: "ended", attempt: `r1/${task}.${n}`, reason: "gate-failed", note: "" },
];

/** Events that are made one after another, each from the run as it is then. */
type Step = NewEvent | NewEvent[] | ((state: RunState) => NewEvent);
function eventsOf(list: string, ...steps: readonly Step[]): NewEvent[] {
  const events: NewEvent[] = [BASE];
  const at = (): RunState => runAfter(list, { workflows: WORKFLOWS }, ...events);
  for (const step of steps) events.push(...[typeof step === "function" ? step(at()) : step].flat());
  return events;
}
const runOf = (list: string, ...steps: readonly Step[]): RunState =>
  runAfter(list, { workflows: WORKFLOWS }, ...eventsOf(list, ...steps));

const taskOf = (id: string, more = ""): PlannedTask => {
  const [task] = makePlan(`### Task 1: Part\n${more}`, "list").tasks;
  return { ...(task as PlannedTask), id };
};
const changed =
  (tasks: readonly PlannedTask[], more: Partial<EventData["changed"]>) =>
  (state: RunState): NewEvent =>
    changedEvent(state, changeTo(heldIn(state), [], tasks), tasks, more);
/** One visit of the planner of `A`, who leaves these. */
const visit = (n: number, ...ids: string[]): Step[] => [
  dispatched("A", n, "plan"),
  begun("A", n),
  ...(ids.length > 0
    ? [
        changed(
          ids.map((id) => taskOf(id)),
          { by: `r1/A.${n}` },
        ),
      ]
    : []),
  handedIn("A", n),
];
const stateOf = (state: RunState, id: string): string | undefined => state.tasks.get(id)?.state;
const startsOf = (state: RunState): string[] => toStart(state).map(({ task }) => task.id);

describe("rule 18: an area takes no slot and conflicts with nothing", () => {
  test("its planner at work does, and its tasks as ever", () => {
    const planned = runOf(LIST, ...visit(1, "A/1", "A/2"));
    expect(stateOf(planned, "A")).toBe("running");
    expect(startsOf(planned)).toEqual(["A/1", "A/2"]);
    expect(planned.conflicts).toEqual([]);
    const files = [taskOf("A/1", "Files: src/a\n"), taskOf("A/2", "Files: src/a\n")];
    const apart = runOf(
      LIST,
      dispatched("A", 1, "plan"),
      begun("A"),
      changed(files, { by: "r1/A.1" }),
    );
    expect(apart.conflicts).toEqual([["A/1", "A/2"]]);
  });

  test("what depends on it waits until it is over", () => {
    expect(stateOf(runOf(LIST, ...visit(1, "A/1"), done("A/1")), "2")).toBe("waiting");
  });
});

describe("rule 19: the planner comes when something has ended and nothing of it waits for a worker", () => {
  test("not when all have ended: one slow worker idles nobody", () => {
    const one = [...visit(1, "A/1", "A/2"), done("A/1")];
    expect(startsOf(runOf(LIST, ...one))).toEqual(["A/2"]);
    expect(startsOf(runOf(LIST, ...one, dispatched("A/2"), begun("A/2")))).toEqual(["A"]);
  });

  test("not while one waits for landing: that is news in a moment", () => {
    const one = [...visit(1, "A/1", "A/2"), done("A/1"), dispatched("A/2"), begun("A/2")];
    expect(startsOf(runOf(LIST, ...one, handedIn("A/2")))).toEqual([]);
  });

  test("nothing has ended since it was there last: it does not", () => {
    const twice = [...visit(1, "A/1", "A/2"), done("A/1"), dispatched("A/2"), begun("A/2")];
    const state = runOf(LIST, ...twice, ...visit(2));
    expect(startsOf(state)).toEqual([]);
    expect(stateOf(state, "A")).toBe("running");
  });
});

describe("what the planner of an area has seen", () => {
  const takesOut: NewEvent = { event: "dropped", tasks: ["A/2"], by: "r1/A.2" };

  test("is what it takes out itself: it does not come again for that", () => {
    const steps = [...visit(1, "A/1", "A/2"), done("A/1"), dispatched("A", 2, "plan")];
    const state = runOf(LIST, ...steps, begun("A", 2), takesOut, handedIn("A", 2));
    expect(stateOf(state, "A")).toBe("landed");
    const byPerson = { event: "dropped", tasks: ["A/2"] } as const;
    expect(startsOf(runOf(LIST, ...steps, begun("A", 2), handedIn("A", 2), byPerson))).toEqual([
      "A",
    ]);
  });

  test("is not that its command listed nothing: it comes again for that", () => {
    const listing = { ...taskOf("A/1"), each: "ls" };
    const visited = [dispatched("A", 1, "plan"), begun("A"), changed([listing], { by: "r1/A.1" })];
    const state = runOf(LIST, ...visited, handedIn("A"), changed([], { listed: "A/1" }));
    expect(stateOf(state, "A/1")).toBe("skipped");
    expect(startsOf(state)).toEqual(["A"]);
  });
});

describe("a planner that fails", () => {
  const cutOff = (n: number): Step[] => [
    dispatched("A", n, "plan"),
    begun("A", n),
    { event: "ended", attempt: `r1/A.${n}`, reason: "cut-off", note: "" },
  ];

  test("is tried once more, and only two in a row want a person: a visit between them ends it", () => {
    const apart = [...cutOff(1), ...visit(2, "A/1"), done("A/1"), ...cutOff(3)];
    expect(stateOf(runOf(LIST, ...apart), "A")).toBe("verify-failed");
    expect(stateOf(runOf(LIST, ...cutOff(1), ...cutOff(2)), "A")).toBe("needs-human");
  });
});

describe("rule 25: a planner that is lost", () => {
  test("is followed by one that is told all that came back since the last page", () => {
    const left = { ...handedIn("A/1"), handoff: "It is in one.txt." } as NewEvent;
    const one = [dispatched("A/1"), begun("A/1"), left, ...landed("A/1")];
    const lost: NewEvent = { event: "ended", attempt: "r1/A.2", reason: "session-lost", note: "" };
    const killed = [...visit(1, "A/1"), one, dispatched("A", 2, "plan"), begun("A", 2)];
    const told = (n: number, ...steps: Step[]): string => {
      const state = runOf(LIST, ...killed, ...steps);
      return areaOf({ state, attempt: state.attempts.get(`r1/A.${n}`) } as Own);
    };
    expect(told(2)).toContain("It is in one.txt.");
    const next = [dispatched("A", 3, "plan"), begun("A", 3)];
    expect(told(3, lost, ...next)).toContain("It is in one.txt.");
    expect(told(3, handedIn("A", 2), ...next)).not.toContain("It is in one.txt.");
  });
});

describe("rule 20: a planner's «done» ends nothing", () => {
  test("it is over when the planner leaves none and nothing of it is open", () => {
    const state = runOf(LIST, ...visit(1, "A/1"), done("A/1"), ...visit(2));
    expect(stateOf(state, "A")).toBe("landed");
    expect(startsOf(state)).toEqual(["2"]);
  });

  test("and its own Verify: is green; red brings the planner back", () => {
    const list = LIST.replace("Files:", "Verify: `npm test`\nFiles:");
    const over = [...visit(1, "A/1"), done("A/1"), ...visit(2)];
    const due = runOf(list, ...over);
    expect(stateOf(due, "A")).toBe("running");
    expect(wholesDue(due).map(({ id }) => id)).toEqual(["A"]);
    const checked = (red: string | null): NewEvent => {
      return { event: "whole-checked", task: "A", tip: "l", red };
    };
    expect(stateOf(runOf(list, ...over, checked(null)), "A")).toBe("landed");
    expect(startsOf(runOf(list, ...over, checked("verify ended with 1")))).toEqual(["A"]);
    const again = runOf(list, ...over, checked("red"), ...visit(3, "A/2"), done("A/2"));
    expect(wholesDue(again)).toEqual([]);
    // Its third visit was its last.
    expect([stateOf(again, "A"), again.tasks.get("A")?.reason]).toEqual([
      "needs-human",
      "dispatches",
    ]);
  });

  test("also where he says that there is nothing to do: its own Verify: is to show that", () => {
    const list = LIST.replace("Files:", "Verify: `npm test`\nFiles:");
    const nothing: NewEvent = { event: "nothing", attempt: "r1/A.1", why: "it is there" };
    const came = [dispatched("A", 1, "plan"), begun("A"), nothing];
    expect(stateOf(runOf(LIST, ...came), "A")).toBe("skipped");
    expect(wholesDue(runOf(list, ...came)).map(({ id }) => id)).toEqual(["A"]);
    const checked = (red: string | null): NewEvent => {
      return { event: "whole-checked", task: "A", tip: "l", red };
    };
    expect(stateOf(runOf(list, ...came, checked(null)), "A")).toBe("skipped");
    expect(startsOf(runOf(list, ...came, checked("red")))).toEqual(["A"]);
  });

  test("another Verify: is checked anew, whatever the one before it said", () => {
    const list = LIST.replace("Files:", "Verify: `npm test`\nFiles:");
    const red: NewEvent = { event: "whole-checked", task: "A", tip: "l", red: "red" };
    const over = [...visit(1, "A/1"), done("A/1"), ...visit(2), red];
    const other = (state: RunState): NewEvent => {
      const area = { ...(state.tasks.get("A") as TaskState).planned, checks: ["npm run all"] };
      return changedEvent(state, changeTo(heldIn(state), []), [area]);
    };
    expect(wholesDue(runOf(list, ...over, other)).map(({ id }) => id)).toEqual(["A"]);
  });

  test("one task that needs a person makes it so, while the others go on", () => {
    const steps = [...visit(1, "A/1", "A/2"), failed("A/1", 1), failed("A/1", 2)];
    const state = runOf(LIST, ...steps, dispatched("A/2"), begun("A/2"), ...visit(2, "A/3"));
    expect(stateOf(state, "A")).toBe("needs-human");
    expect(stateOf(state, "A/2")).toBe("running");
    expect(startsOf(state)).toEqual(["A/3"]);
    expect(state.done).toBe(false);
  });
});

describe("an area in an area", () => {
  test("is planned by a planner of its own, and is over before the one around it", () => {
    const inner = { ...taskOf("A/1"), workflow: "area" };
    const steps: Step[] = [
      dispatched("A", 1, "plan"),
      begun("A"),
      changed([inner], { by: "r1/A.1" }),
      handedIn("A"),
    ];
    expect(startsOf(runOf(LIST, ...steps))).toEqual(["A/1"]);
    const planned: Step[] = [
      ...steps,
      dispatched("A/1", 1, "plan"),
      begun("A/1"),
      changed([taskOf("A/1/1")], { by: "r1/A/1.1" }),
      handedIn("A/1"),
    ];
    const inside = runOf(LIST, ...planned);
    expect(startsOf(inside)).toEqual(["A/1/1"]);
    expect(stateOf(inside, "A")).toBe("running");
    const over = [...planned, done("A/1/1"), dispatched("A/1", 2, "plan"), begun("A/1", 2)];
    const ended = runOf(LIST, ...over, handedIn("A/1", 2));
    expect(stateOf(ended, "A/1")).toBe("landed");
    expect(startsOf(ended)).toEqual(["A"]);
  });
});

describe("an area that a change brings", () => {
  const all = new Map(
    Object.entries(WORKFLOWS).map(([name, phases]) => {
      return [name, { name, when: "", for: [], phases } as Workflow];
    }),
  );
  const rails = { blueprint: SHIPPED, overlays: new Map(), all, order: [], prefix: "" };
  const codeOf = (state: RunState, text: string, by: string | null = null): string => {
    try {
      changeWith(
        text,
        "it",
        state,
        rails,
        () => true,
        by ? (state.attempts.get(by) ?? null) : null,
      );
      return "";
    } catch (error) {
      return (error as Fault).code;
    }
  };

  test.each(["", "Each: ls\n"])("needs a budget, as at the start: %j", (each) => {
    const text = `### Task 3: Part\nWorkflow: area\n${each}`;
    const rich = runAfter(LIST, { workflows: WORKFLOWS, budget: 5 });
    expect([codeOf(runOf(LIST), text), codeOf(rich, text)]).toEqual(["plan", ""]);
  });

  test("lies in no more others than may be, also where a command lists it", () => {
    expect(SHIPPED.bounds.depth).toBe(3);
    const inner = { ...taskOf("A/1"), workflow: "area" };
    const events = eventsOf(
      LIST,
      dispatched("A", 1, "plan"),
      begun("A"),
      changed([inner], { by: "r1/A.1" }),
      handedIn("A"),
      dispatched("A/1", 1, "plan"),
      begun("A/1"),
    );
    const state = runAfter(LIST, { workflows: WORKFLOWS, budget: 5 }, ...events);
    const text = "### Task 1: Part\nWorkflow: area\nFiles: src/a\n";
    expect(codeOf(state, text, "r1/A/1.1")).toBe("");
    expect(codeOf(state, `${text}Each: ls\n`, "r1/A/1.1")).toBe("beyond");
  });
});

describe("an area that is dropped", () => {
  const inner = { ...taskOf("A/2"), workflow: "area" };
  const deep = [
    dispatched("A", 1, "plan"),
    begun("A"),
    changed([taskOf("A/1"), inner], { by: "r1/A.1" }),
    handedIn("A"),
    dispatched("A/2", 1, "plan"),
    begun("A/2"),
    changed([taskOf("A/2/1")], { by: "r1/A/2.1" }),
    handedIn("A/2"),
    dispatched("A/1"),
    begun("A/1"),
  ];
  /** A journal of a run that stands so. */
  async function journalOf(list: string, ...steps: readonly Step[]) {
    const journal = new MemoryJournal("/none", "r1");
    await journal.add(startedWith(list, { workflows: WORKFLOWS }), ...eventsOf(list, ...steps));
    return { journal, place: { main: "/none" } as Place, state: await journal.state() };
  }

  test("is dropped with all that is made of it, and who was at that is over", async () => {
    const at = await journalOf("### Task A: Area\nWorkflow: area\n", ...deep);
    expect(await drop(at, ["A"], 0)).toBe(true);
    const after = await at.journal.state();
    expect([...after.tasks.values()].map(({ state }) => state)).toEqual(Array(4).fill("dropped"));
    expect([...after.attempts.values()].filter(isActive)).toEqual([]);
    expect(after.done).toBe(true);
  });

  test("has no new tasks", async () => {
    const at = await journalOf("### Task A: Area\nWorkflow: area\n", ...deep);
    await drop(at, ["A"], 0);
    const own = { name: "", about: "", for: [{}], phases: ONE_PHASE[""] } as unknown as Workflow;
    const all = new Map([["", own]]);
    const rails = { blueprint: SHIPPED, overlays: new Map(), all, order: [own], prefix: "" };
    const after = await at.journal.state();
    const add = () => changeWith("### Task A/9: More\n", "it", after, rails, () => true);
    expect(add).toThrow(expect.objectContaining({ code: "plan" }));
  });

  test("by its planner no more once that is over", async () => {
    const at = await journalOf(LIST, ...visit(1, "A/1", "A/2"));
    const planner = at.state.attempts.get("r1/A.1") as AttemptState;
    await expect(leaveOut(at, planner, ["2"])).rejects.toMatchObject({ code: "over" });
  });

  test("by its planner only where nobody was at what is made of it", async () => {
    const steps = [...deep, dispatched("A", 2, "plan"), begun("A", 2)];
    const listing = { ...taskOf("A/3"), each: "ls" };
    const listed = [
      dispatched("A", 1, "plan"),
      begun("A"),
      changed([listing], { by: "r1/A.1" }),
      handedIn("A"),
      changed([taskOf("A/3/1"), taskOf("A/3/2")], { listed: "A/3" }),
      dispatched("A/3/1"),
    ];
    const planner = [dispatched("A", 2, "plan"), begun("A", 2)];
    const list = "### Task A: Area\nWorkflow: area\n";
    const out = async (all: readonly Step[], id: string) => {
      const at = await journalOf(list, ...all, ...planner);
      await leaveOut(at, at.state.attempts.get("r1/A.2") as AttemptState, [id]);
      return at.journal.state();
    };
    await expect(out([...listed, begun("A/3/1")], "3")).rejects.toMatchObject({
      code: "not-yours",
    });
    await expect(out(steps.slice(0, -2), "2")).rejects.toMatchObject({ code: "not-yours" });
    const after = await out(listed, "3");
    expect(["A/3", "A/3/1", "A/3/2"].map((id) => stateOf(after, id))).toEqual(
      Array(3).fill("dropped"),
    );
  });
});

describe("rule 23: a task for each line", () => {
  const EACH = [
    "### Task 1: Move",
    "Each: git grep -l moment",
    "Files: {}",
    "Verify: `npx vitest related --run {}`",
    "### Task 2: Whole",
    "Depends: 1",
  ].join("\n");
  const [each, whole] = makePlan(EACH, "list").tasks as [PlannedTask, PlannedTask];
  const template = { ...each, checks: [each.verify, "npm test"] };
  const listing = (lines: readonly string[], task = template) =>
    changed(listedTasks(task, lines), { listed: "1" });

  test("it is one word in commands, a path as it is under Files:, and text elsewhere", () => {
    const [first, second] = listedTasks(template, ["src/a.ts", "src/it's [id].ts"]);
    expect(first).toMatchObject({
      id: "1/1",
      title: "Move: src/a.ts",
      files: [{ path: "src/a.ts", literal: true }],
      checks: ["npx vitest related --run src/a.ts"],
    });
    expect(second?.checks).toEqual(["npx vitest related --run 'src/it'\\''s [id].ts'"]);
    expect(second?.each).toBeUndefined();
  });

  test("blank and doubled lines are dropped, and counted", () => {
    expect(linesIn("a\n\nb\na\n")).toEqual({ lines: ["a", "b"], leftOut: 2 });
    expect(linesIn("")).toEqual({ lines: [], leftOut: 0 });
  });

  test("it is listed when it is its turn, and no worker is started for it", () => {
    const state = runOf(EACH);
    expect(listsDue(state).map(({ id }) => id)).toEqual(["1"]);
    expect(startsOf(state)).toEqual([]);
    expect(state.done).toBe(false);
  });

  test("it is listed though no dispatch is left, which a list of it alone never has", () => {
    const alone = runOf("### Task 1: Move\nEach: git grep -l moment\nFiles: {}\n");
    expect([alone.left, stateOf(alone, "1")]).toEqual([0, "ready"]);
    expect(listsDue(alone).map(({ id }) => id)).toEqual(["1"]);
  });

  test("none is skipped, and what depends on it goes on", () => {
    const state = runOf(EACH, listing([]));
    expect(stateOf(state, "1")).toBe("skipped");
    expect(startsOf(state)).toEqual(["2"]);
  });

  test("it is over when all are, and the Verify: of the whole is green", () => {
    const list = `${EACH.replace("Files: {}", "Files: {}\nVerify: `npm test`")}\n`;
    const started = runOf(list, listing(["a", "b"]));
    expect(startsOf(started)).toEqual(["1/1", "1/2"]);
    expect(started.conflicts).toEqual([]);
    const over = runOf(list, listing(["a", "b"]), done("1/1"), done("1/2"));
    expect(stateOf(over, "1")).toBe("running");
    expect(wholesDue(over).map(({ id }) => id)).toEqual(["1"]);
    const checked = { event: "whole-checked", task: "1", tip: "l", red: null } as const;
    const ended = runOf(list, listing(["a", "b"]), done("1/1"), done("1/2"), checked);
    expect([stateOf(ended, "1"), stateOf(ended, "2")]).toEqual(["landed", "ready"]);
    expect(whole.depends).toEqual(["1"]);
  });

  test("dropped and begun anew, it is done with all that was dropped with it", () => {
    const alone = changed([taskOf("1/3")], {});
    const steps: Step[] = [listing(["a", "b"]), alone, { event: "dropped", tasks: ["1/2"] }];
    const whole: NewEvent = { event: "dropped", tasks: ["1", "1/1", "1/3"] };
    const anew: NewEvent = { event: "retried", task: "1", words: "" };
    const state = runOf(EACH, ...steps, done("1/1"), whole, anew);
    expect(["1", "1/1", "1/2", "1/3"].map((id) => stateOf(state, id))).toEqual([
      "running",
      "ready",
      "dropped",
      "ready",
    ]);
  });

  test("one that a change brought is not taken back any more once it is listed", () => {
    const own = { ...template, id: "3" };
    const added = changed([own], { session: "s" });
    expect(undoneIn(runOf(EACH, added)).event.removed).toEqual(["3"]);
    const listed = changed(listedTasks(own, ["a"]), { listed: "3" });
    const undo = () => undoneIn(runOf(EACH, added, listed));
    expect(undo).toThrow(expect.objectContaining({ code: "begun" }));
  });

  test("a command that fails is a person's business, and a retry lists anew", () => {
    const note = { event: "not-listed", task: "1", note: "ended with 127" } as const;
    expect(stateOf(runOf(EACH, note), "1")).toBe("needs-human");
    const freed = runOf(EACH, note, { event: "retried", task: "1", words: "" });
    expect(listsDue(freed).map(({ id }) => id)).toEqual(["1"]);
  });
});

describe("rule 22: reviews by risk belong to tasks that write", () => {
  test("neither an area nor one that only looks has one", () => {
    const reviews = { high: phasesOf("- {name: review, writes: false, back: fix}\n- name: fix") };
    const list =
      "### Task A: Area\nWorkflow: area\nRisk: high\n### Task 2: Look\nWorkflow: look\nRisk: high\n### Task 3: Do\nRisk: high\n";
    const state = runAfter(list, { workflows: WORKFLOWS, reviews });
    const phases = (id: string) => state.tasks.get(id)?.phases.map(({ name }) => name);
    expect([phases("A"), phases("2"), phases("3")]).toEqual([
      ["plan"],
      ["look"],
      ["implement", "review", "fix"],
    ]);
  });
});

describe("rule 24: a workflow in which nothing writes", () => {
  test("its handoff is the result: it is over once that is handed in", () => {
    const list = "### Task 1: Look\nWorkflow: look\n### Task 2: Two\nDepends: 1\n";
    const state = runOf(list, dispatched("1", 1, "look"), begun("1"), handedIn("1"));
    expect(stateOf(state, "1")).toBe("landed");
    expect(startsOf(state)).toEqual(["2"]);
  });
});
