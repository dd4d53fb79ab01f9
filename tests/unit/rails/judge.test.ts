import { describe, expect, test } from "vitest";
import { isRed } from "../../../rails/journal/passed.ts";
import { failuresIn, isSubset, isUntested } from "../../../rails/proof/failures.ts";
import { SHIPPED } from "./run.ts";

const { output } = SHIPPED;

// What runners print, in their own formats.
const NOTHING = {
  vitest: "No test files found, exiting with code 0\n\ninclude: **/*.{test,spec}.?(c|m)[jt]s?(x)\n",
  jest: "No tests found, exiting with code 0\n",
  "node, spec": "ℹ tests 0\nℹ suites 0\nℹ pass 0\nℹ fail 0\n",
  "node, TAP": "TAP version 13\n1..0\n# tests 0\n# suites 0\n# pass 0\n# fail 0\n",
  mocha: "\n\n  0 passing (1ms)\n\n",
  pytest: "collected 0 items\n\n============ no tests ran in 0.01s ============\n",
  unittest:
    "\n----------------------------------------------------------------------\nRan 0 tests in 0.000s\n\nNO TESTS RAN\n",
  go: "?   \texample.com/a\t[no test files]\n?   \texample.com/b\t[no test files]\n",
  "go, filtered":
    "testing: warning: no tests to run\nok  \texample.com/a\t0.002s [no tests to run]\n",
  cargo:
    "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
  rspec: "No examples found.\n\nFinished in 0.00031 seconds\n0 examples, 0 failures\n",
  maven:
    "[INFO] --- surefire:3.2.5:test (default-test) @ a ---\n[INFO] No tests to run.\n[INFO] BUILD SUCCESS\n",
  gradle:
    "> Task :app:compileTestJava NO-SOURCE\n> Task :app:test NO-SOURCE\n\nBUILD SUCCESSFUL in 2s\n",
  "gradle 4": ":compileTestJava NO-SOURCE\n:test NO-SOURCE\n\nBUILD SUCCESSFUL in 2s\n",
  dotnet:
    "No test is available in /r/T.dll. Make sure that test discoverer & executors are registered.\n",
  coloured: "\u001b[34mℹ tests 0\u001b[39m\n",
};
const SOME = {
  vitest: " Test Files  1 passed (1)\n      Tests  3 passed (3)\n",
  jest: "Tests:       1 passed, 1 total\n",
  "node, spec": "✔ adds (0.5ms)\nℹ tests 1\nℹ suites 0\nℹ pass 1\n",
  "node, TAP": "TAP version 13\nok 1 - adds\n1..1\n# tests 1\n",
  mocha: "  2 passing (3ms)\n",
  pytest: "collected 2 items\n\na_test.py ..   [100%]\n\n=== 2 passed in 0.01s ===\n",
  "go, one package of two": "?   \texample.com/a\t[no test files]\nok  \texample.com/b\t(cached)\n",
  "cargo, with doc tests":
    "running 1 test\ntest it ... ok\n\ntest result: ok. 1 passed; 0 failed;\n\n   Doc-tests a\n\nrunning 0 tests\n",
  "npm workspaces, one of them empty":
    "No tests found, exiting with code 0\nTests:       4 passed, 4 total\n",
  "maven, one module of two":
    "[INFO] No tests to run.\n[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0\n",
  "gradle, one project of two":
    "> Task :core:test NO-SOURCE\n> Task :app:test\n\nBUILD SUCCESSFUL in 2s\n",
  "dotnet, one project of two":
    "No test is available in /r/A.dll.\nPassed!  - Failed:     0, Passed:     5, Skipped:     0, Total:     5\n",
  "a linter": "✨ no problems\n",
  nothing: "",
};

describe("a run that tested nothing", () => {
  test.each(Object.entries(NOTHING))("%s", (_, text) =>
    expect(isUntested(text, output)).toBe(true),
  );
});
describe("a run that tested something, or says nothing of it", () => {
  test.each(Object.entries(SOME))("%s", (_, text) => expect(isUntested(text, output)).toBe(false));
});

test("red: a code, nothing tested; not what a person went on over", () => {
  expect(isRed({ code: 1, untested: false, known: false })).toBe(true);
  expect(isRed({ code: null, untested: false, known: false })).toBe(true);
  expect(isRed({ code: 0, untested: true, known: false })).toBe(true);
  expect(isRed({ code: 1, untested: false, known: true })).toBe(false);
  expect(isRed({ code: 0, untested: false, known: false })).toBe(false);
  expect(isRed(undefined)).toBe(false);
});

describe("which failures an output names", () => {
  const of = (text: string) => [...failuresIn(text, output)];
  test.each<[string, string, string]>([
    ["durations", "✖ adds (0.5ms)\n", "✖ adds (12.25ms)\n"],
    ["numbers of tests", "ok 1 - a\nnot ok 2 - adds\n", "ok 1 - a\nok 2 - b\nnot ok 3 - adds\n"],
    [
      "positions",
      "src/a.ts:3:5: error TS2304: Cannot find name 'x'.\n",
      "src/a.ts:30:1: error TS2304: Cannot find name 'x'.\n",
    ],
    ["tests that pass", "FAIL  test/a.test.ts > adds\n", "✓ other\nFAIL  test/a.test.ts > adds\n"],
    ["colours", "\u001b[31m✖ adds\u001b[39m\n", "✖ adds\n"],
  ])("%s make no difference", (_, one, other) => expect(of(one)).toEqual(of(other)));

  test.each<[string, string, string]>([
    ["another test", "✖ adds\n", "✖ subtracts\n"],
    ["one more", "not ok 1 - adds\n", "not ok 1 - adds\nnot ok 2 - subtracts\n"],
    ["another error", "src/a.ts:3:5: error TS2304: x\n", "src/a.ts:3:5: error TS2322: y\n"],
    [
      "cases that differ by a number",
      "FAILED test_a.py::test_case[1]\n",
      "FAILED test_a.py::test_case[2]\n",
    ],
    ["no line is known as a failure", "something is off\n", "something else is off\n"],
  ])("%s is new", (_, before, now) =>
    expect(isSubset(failuresIn(now, output), failuresIn(before, output))).toBe(false),
  );

  test("fewer than before are no new ones; an output that names none says nothing", () => {
    const before = failuresIn("✖ adds\n✖ subtracts\n", output);
    expect(isSubset(failuresIn("✖ adds\n", output), before)).toBe(true);
    expect(isSubset(failuresIn("", output), before)).toBe(false);
  });
});
