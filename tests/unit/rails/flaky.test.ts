import { expect, test } from "vitest";
import type { Event, Evidence, NewEvent } from "../../../rails/journal/events.ts";
import { flakyIn, isDoubtful } from "../../../rails/journal/flaky.ts";
import type { RunState } from "../../../rails/journal/state.ts";
import { runAfter } from "./run.ts";

let count = 0;
const ran = (more: Partial<Evidence>): NewEvent => ({
  event: "evidence",
  gate: "test",
  by: "worker",
  attempts: ["r1/1.1"],
  tree: "t",
  changed: [],
  made: [],
  command: "npm test",
  cwd: "",
  setup: "",
  code: 0,
  untested: false,
  known: false,
  ms: 1,
  output: `output/${count++}.log`,
  ...more,
});

const G = ran({});
const R = ran({ code: 1, errors: ["✖ adds"] });
const LANDING_R = ran({ code: 1, by: "landing" });
const LANDING_G = ran({ by: "landing" });
const BASE_R = ran({ code: 1, by: "landing", attempts: [] });
const KNOWN = ran({ code: 1, known: true });
const SLOW = ran({ code: null, by: "landing" });

const after = (...events: NewEvent[]): RunState =>
  runAfter(
    "1. One\n",
    { event: "dispatched", task: "1", attempt: "r1/1.1", phase: "implement" },
    ...events,
  );

test.each<[string, NewEvent[], number]>([
  ["red, then green", [R, G], 1],
  ["green, red, green", [G, LANDING_R, LANDING_G], 1],
  ["again and again", [R, G, R, G], 1],
  ["over failures that a runner prints", [ran({ failing: "# fail 1" }), G], 1],
  ["of the base, green then", [BASE_R, G], 1],
  ["green, then red and red", [G, LANDING_R, LANDING_R], 0],
  ["of the base, and accepted", [BASE_R, KNOWN], 0],
  ["out of time, then green", [SLOW, G], 0],
  ["green, but files were changed", [R, ran({ changed: ["a"] })], 0],
  ["on another tree", [R, ran({ tree: "u" })], 0],
  ["of another gate", [R, ran({ gate: "lint" })], 0],
  ["of another command", [R, ran({ command: "npm t" })], 0],
  ["in another folder", [R, ran({ cwd: "web" })], 0],
  ["after another setup", [R, ran({ setup: ": npm ci" })], 0],
])("flaky: %s", (_, events, times) => {
  expect(flakyIn(after(...events))).toHaveLength(times);
});

test("it says which gate, for which tasks, what failed, and where the output is", () => {
  const [red, green] = [ran({ code: 1, errors: ["✖ adds"] }), ran({})] as Event<"evidence">[];
  expect(flakyIn(after(red as NewEvent, green as NewEvent))).toEqual([
    {
      gate: "test",
      tree: "t",
      tasks: ["1"],
      errors: ["✖ adds"],
      red: red?.output,
      green: green?.output,
    },
  ]);
});

test.each<[string, NewEvent[], boolean]>([
  ["passed for a worker before", [G, LANDING_R], true],
  ["passed for landing before", [LANDING_G, LANDING_R], true],
  ["passed but for what is known", [KNOWN, LANDING_R], true],
  ["was red for a worker since", [G, R, LANDING_R], true],
  ["came back green before", [G, LANDING_R, LANDING_G, LANDING_R], true],
  ["came back red before", [G, LANDING_R, LANDING_R], false],
  ["never passed", [R, LANDING_R], false],
  ["passed on another tree", [ran({ tree: "u" }), LANDING_R], false],
  ["ran out of time", [G, SLOW], false],
  ["is red in what is known", [G, ran({ code: 1, known: true, by: "landing" })], false],
  ["passes", [G, LANDING_G], false],
])("another run, where it %s: %s", (_, events, isWorth) => {
  expect(isDoubtful(after(...events), events.at(-1) as Event<"evidence">)).toBe(isWorth);
});
