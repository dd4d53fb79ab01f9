import { describe, expect, test } from "vitest";
import type { NewEvent } from "../../../rails/journal/events.ts";
import type { RunState, TaskState } from "../../../rails/journal/state.ts";
import type { Own } from "../../../rails/worker/attempt.ts";
import { roundsBefore } from "../../../rails/worker/choice-brief.ts";
import { phasesOf, runAfter } from "./run.ts";

// Rules 12 to 14 of loops: a phase with rounds.

const LOOP = { workflows: { "": phasesOf("- {name: implement, rounds: 4}") } };
const LIST = "### Task 1: One\nVerify: `npm test`\n";

const dispatched = (n: number): NewEvent => {
  return { event: "dispatched", task: "1", attempt: `r1/1.${n}`, phase: "implement" };
};

/** What a worker's gate says of a round. */
const evidence = (n: number, errors: readonly string[], code = 1): NewEvent => {
  const rest = { changed: [], made: [], cwd: "", setup: "", untested: false, known: false, ms: 1 };
  return {
    event: "evidence",
    gate: "verify",
    by: "worker",
    attempts: [`r1/1.${n}`],
    tree: `t${n}`,
    command: "npm test",
    code,
    errors,
    output: "o",
    ...rest,
  };
};

const handedIn = (n: number, red: readonly string[]): NewEvent => {
  const result = { head: `h${n}`, tree: `t${n}`, commits: [`h${n}`], paths: ["a"], deleted: [] };
  return { event: "submitted", attempt: `r1/1.${n}`, handoff: "h", ...result, red };
};

const round = (n: number, ...errors: string[]): NewEvent[] => [
  dispatched(n),
  evidence(n, errors, errors.length === 0 ? 0 : 1),
  handedIn(n, errors.length === 0 ? [] : ["verify"]),
];
const taskAfter = (...events: NewEvent[]): TaskState =>
  runAfter(LIST, LOOP, ...events).tasks.get("1") as TaskState;
const stand = ({ state, reason, phase, result }: TaskState) => [
  state,
  reason,
  phase?.name ?? null,
  result?.id ?? null,
];

describe("rule 12: a round may be handed in with a gate red", () => {
  test("it comes again then, on what there is; all green goes on to landing", () => {
    const first = round(1, "3 of 9 fail");
    expect(stand(taskAfter(...first))).toEqual(["ready", null, "implement", "r1/1.1"]);
    expect(stand(taskAfter(...first, ...round(2)))).toEqual(["mergeable", null, null, "r1/1.2"]);
  });

  test("one that was handed in is no failure of an attempt", () => {
    const lost = { event: "ended", attempt: "r1/1.2", reason: "unproven", note: "" } as const;
    const events = [...round(1, "a fails"), dispatched(2), lost, ...round(3, "b fails")];
    expect(stand(taskAfter(...events)).slice(0, 2)).toEqual(["ready", null]);
    const again = { ...lost, attempt: "r1/1.4" };
    expect(taskAfter(...events, dispatched(4), again).state).toBe("verify-failed");
  });
});

describe("rule 13: an end is never optional", () => {
  test("the last round ends it, with the best there is kept", () => {
    const events = ["a", "b", "c", "d"].flatMap((what, at) => round(at + 1, `${what} fails`));
    expect(stand(taskAfter(...events.slice(0, 9)))).toEqual(["ready", null, "implement", "r1/1.3"]);
    const last = taskAfter(...events);
    expect(stand(last)).toEqual(["needs-human", "gate-failed", "implement", "r1/1.4"]);
    expect(last.note).toContain("Round 4 of 4");
  });

  test("three alike end it: numbers and paths make no difference", () => {
    const events = [
      ...round(1, "not ok 3 - src/a.ts:12 is 4"),
      ...round(2, "not ok 5 - lib/b.ts:9 is 11"),
    ];
    expect(taskAfter(...events).state).toBe("ready");
    const third = taskAfter(...events, ...round(3, "not ok 1 - x/y.ts:1 is 0"));
    expect(stand(third).slice(0, 2)).toEqual(["needs-human", "stuck"]);
  });

  test("three that are not in a row do not", () => {
    const events = [..."aba"].flatMap((what, at) => round(at + 1, `${what} fails`));
    expect(taskAfter(...events).state).toBe("ready");
  });

  test("a person's retry gives it all rounds again", () => {
    const events = [1, 2, 3].flatMap((n) => round(n, "a fails"));
    const freed = taskAfter(...events, { event: "retried", task: "1", words: "" });
    expect(stand(freed)).toEqual(["ready", null, "implement", "r1/1.3"]);
  });

  test("and whoever goes on then is told what the rounds before tried", () => {
    const events = [1, 2, 3].flatMap((n) => round(n, "a fails"));
    const retried: NewEvent = { event: "retried", task: "1", words: "" };
    const state = runAfter(LIST, LOOP, ...events, retried, dispatched(4));
    const told = roundsBefore({ state, attempt: state.attempts.get("r1/1.4") } as Own);
    expect(told.match(/^### Round \d/gm)).toHaveLength(3);
  });

  test("rounds count as steps of the run's bound", () => {
    const { left } = runAfter(LIST, LOOP) as RunState;
    expect(left).toBe(4 * 2);
  });
});

describe("rule 14: between rounds a task keeps its files", () => {
  test("what conflicts with it waits", async () => {
    const { choose } = await import("../../../rails/foreman/dispatch.ts");
    const list = "### Task 1: One\nVerify: `npm test`\nFiles: a\n### Task 2: Two\nFiles: a\n";
    const events = [{ event: "base-checked", red: [] } as const, ...round(1, "a fails")];
    const state = runAfter(
      list,
      { ...LOOP, conflicts: [["1", "2"]], priority: { 2: 9 } },
      ...events,
    );
    expect(choose(state).map(({ task }) => task.id)).toEqual(["1"]);
  });
});
