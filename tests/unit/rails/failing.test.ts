import { expect, test } from "vitest";
import type { Evidence } from "../../../rails/journal/events.ts";
import { isMet, isMissed, isPass, isRed } from "../../../rails/journal/passed.ts";
import { failingIn } from "../../../rails/proof/failures.ts";
import { SHIPPED } from "./run.ts";

const { output } = SHIPPED;

/** Lines as runners print them where something failed. */
const FAILING = [
  ["node --test, spec", "ℹ fail 1"],
  ["node --test, spec, colours", "\u001b[34mℹ fail 12\u001b[39m"],
  ["node --test, tap", "# fail 1"],
  ["node --test, cancelled", "# cancelled 2"],
  ["tape", "# fail  1"],
  ["TAP", "not ok 1 - adds two numbers"],
  ["TAP without a number", "not ok - adds two numbers"],
  ["bats, tap", "not ok 2 prints its version"],
  ["bats, pretty", "3 tests, 1 failure"],
  ["prove", "Result: FAIL"],
  ["vitest, tests", "      Tests  1 failed | 2 passed (3)"],
  ["vitest, files", " Test Files  1 failed (1)"],
  [
    "vitest, colours",
    "\u001b[2m      Tests \u001b[22m \u001b[1m\u001b[31m1 failed\u001b[39m\u001b[22m (1)",
  ],
  ["vitest, errors beside the tests", "     Errors  1 error"],
  ["jest, tests", "Tests:       1 failed, 2 passed, 3 total"],
  ["jest, suites", "Test Suites: 1 failed, 1 total"],
  ["jest, snapshots", "Snapshots:   1 failed, 1 total"],
  ["pest", "  Tests:    1 failed, 2 passed (3 assertions)"],
  ["mocha", "  1 failing"],
  ["playwright", "  1 failed"],
  ["ava", "  1 test failed"],
  ["bun", " 1 fail"],
  ["cypress", "    ✖  1 of 2 failed (50%)                      00:03        5        4        1"],
  ["deno", "FAILED | 1 passed | 1 failed (5ms)"],
  ["pytest", "========================= 1 failed, 2 passed in 0.10s ========================="],
  ["pytest, quiet", "1 failed, 2 passed, 1 warning in 0.10s"],
  [
    "pytest, errors",
    "=============================== 1 error in 0.05s ===============================",
  ],
  ["pytest, both", "= 2 failed, 3 passed, 1 skipped, 2 warnings, 1 error in 65.00s (0:01:05) ="],
  ["pytest, error last", "2 passed, 1 error in 0.20s"],
  ["unittest", "FAILED (failures=1)"],
  ["unittest, errors", "FAILED (errors=2, skipped=1)"],
  ["unittest, unexpected successes", "FAILED (unexpected successes=1)"],
  ["go, test", "--- FAIL: TestAdd (0.00s)"],
  ["go, package", "FAIL\texample.com/m/add\t0.003s"],
  ["go, build", "FAIL\texample.com/m/add [build failed]"],
  ["go, all", "FAIL"],
  ["cargo", "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out"],
  ["cargo, which test", "error: test failed, to rerun pass `--lib`"],
  ["cargo, build", "error: could not compile `m` (lib) due to 1 previous error"],
  ["nextest", "     Summary [   0.005s] 3 tests run: 2 passed, 1 failed, 0 skipped"],
  ["rspec", "3 examples, 1 failure"],
  ["rspec, pending", "10 examples, 2 failures, 1 pending"],
  ["rspec, outside", "0 examples, 0 failures, 1 error occurred outside of examples"],
  ["minitest", "3 runs, 5 assertions, 1 failures, 0 errors, 0 skips"],
  ["minitest, errors", "3 runs, 5 assertions, 0 failures, 1 errors, 0 skips"],
  ["ExUnit", "1 doctest, 3 tests, 1 failure"],
  ["phpunit", "FAILURES!"],
  ["phpunit, errors", "ERRORS!"],
  ["junit", "Tests run: 3,  Failures: 1"],
  ["maven", "[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0"],
  ["maven, errors", "[ERROR] Tests run: 3, Failures: 0, Errors: 2, Skipped: 0"],
  ["maven, end", "[INFO] BUILD FAILURE"],
  ["gradle, ignored", "There were failing tests. See the report at: file:///w/build/index.html"],
  ["gradle, end", "BUILD FAILED in 3s"],
  ["dotnet", "Failed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3"],
  ["dotnet, platform", "Test summary: total: 3, failed: 1, succeeded: 2, skipped: 0"],
  ["dotnet, older", "Test Run Failed."],
  ["googletest", " 1 FAILED TEST"],
  ["ctest", "67% tests passed, 1 tests failed out of 3"],
  ["XCTest", "Test Suite 'All tests' failed at 2026-01-01 10:00:00.000."],
  ["xcodebuild", "** TEST FAILED **"],
  ["eslint", "✖ 3 problems (3 errors, 0 warnings)"],
  ["eslint, one", "✖ 1 problem (1 error, 0 warnings)"],
  ["eslint, warnings that are too many", "ESLint found too many warnings (maximum: 0)."],
  ["tsc", "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'."],
  ["tsc, pretty", "src/a.ts:3:5 - error TS2322: Type 'string' is not assignable."],
  ["tsc, options", "error TS5023: Unknown compiler option 'strickt'."],
  ["tsc, count", "Found 3 errors in 2 files."],
  ["biome", "Found 2 errors."],
  ["ruff", "Found 3 errors (2 fixed, 1 remaining)."],
] as const;

/** Lines that a run prints in which all is well, or that only speak of failures. */
const FINE = [
  ["node --test, spec", "ℹ fail 0"],
  ["node --test, tap", "# fail 0"],
  ["node --test, name", "✔ fail 1 is counted (0.3ms)"],
  ["node --test, name in tap", "# Subtest: fail 1"],
  ["TAP, todo", "not ok 3 - rounds # TODO later"],
  ["TAP, todo in small letters", "not ok 3 - rounds # todo"],
  ["TAP, skip", "not ok 4 - on Windows # SKIP not here"],
  ["TAP, a test within", "    not ok 1 - within # it is its parent that counts"],
  ["TAP, name", "ok 2 - says not ok 1 where it fails"],
  ["prose", "not okay"],
  ["prove", "Result: PASS"],
  ["vitest", "      Tests  3 passed (3)"],
  ["vitest, expected", "      Tests  2 passed | 1 expected fail (3)"],
  ["vitest, name", " ✓ src/a.test.ts > says Tests  1 failed | 2 passed (3)"],
  ["jest", "Tests:       3 passed, 3 total"],
  ["jest, skipped", "Tests:       1 skipped, 2 passed, 3 total"],
  ["jest, snapshots", "Snapshots:   0 total"],
  ["jest, name", "    ✓ prints Tests: 1 failed (2 ms)"],
  ["mocha", "  3 passing (12ms)"],
  ["mocha, none", "  0 failing"],
  ["mocha, name", "    ✔ 1 failing"],
  ["playwright, flaky", "  1 flaky"],
  ["bun", " 0 fail"],
  ["deno", "ok | 3 passed | 0 failed (5ms)"],
  ["cypress", "    ✔  All specs passed!                        00:03        5        5        -"],
  ["pytest", "============================== 3 passed in 0.10s =============================="],
  ["pytest, expected", "2 passed, 1 xfailed, 1 xpassed in 0.10s"],
  ["pytest, again", "2 passed, 1 rerun in 0.10s"],
  ["pytest, none", "0 failed, 3 passed in 0.10s"],
  ["pytest, name", "tests/test_a.py::test_1_failed_in_0 PASSED"],
  ["unittest", "OK (expected failures=1)"],
  ["unittest, name", "test_failed (t.T) ... ok"],
  ["go", "ok  \texample.com/m/add\t0.003s"],
  ["go, within", "    --- FAIL: a helper's words (0.00s)"],
  ["go, name", "--- PASS: TestFAIL (0.00s)"],
  ["cargo", "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out"],
  ["cargo, name", "test tests::says_failed ... ok"],
  ["nextest", "     Summary [   0.005s] 3 tests run: 3 passed, 0 failed, 0 skipped"],
  ["rspec", "3 examples, 0 failures"],
  ["rspec, pending", "3 examples, 0 failures, 1 pending"],
  ["rspec, name", "  prints 3 examples, 1 failure"],
  ["minitest", "3 runs, 5 assertions, 0 failures, 0 errors, 0 skips"],
  ["bats", "3 tests, 0 failures"],
  ["phpunit", "OK (3 tests, 5 assertions)"],
  ["maven", "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0"],
  ["maven, tried again", "[WARNING] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Flakes: 1"],
  [
    "maven, a class",
    "[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! - in T",
  ],
  ["gradle", "BUILD SUCCESSFUL in 3s"],
  ["gradle, perhaps tried again", "3 tests completed, 1 failed"],
  ["dotnet", "Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3"],
  ["dotnet, platform", "Test summary: total: 3, failed: 0, succeeded: 3, skipped: 0"],
  ["ctest", "100% tests passed, 0 tests failed out of 3"],
  ["XCTest", "Executed 3 tests, with 0 failures (0 unexpected) in 0.1 (0.2) seconds"],
  ["eslint", "✖ 2 problems (0 errors, 2 warnings)"],
  ["eslint, one", "✖ 1 problem (0 errors, 1 warning)"],
  ["tsc", "Found 0 errors. Watching for file changes."],
  ["tsc, source", "// error TS2322: what the compiler says here"],
  ["ruff", "Found 3 errors (3 fixed, 0 remaining)."],
  ["make, ignored", "make: [Makefile:3: clean] Error 1 (ignored)"],
] as const;

test.each(FAILING)("%s sums failures up: %s", (_, line) => {
  const said = failingIn(`all begins well\n${line}\nand goes on\n`, output);
  expect(said).toBeDefined();
  expect(said).not.toContain("\u001b");
});

test.each(FINE)("%s does not: %s", (_, line) => {
  expect(failingIn(`all begins well\n${line}\nand goes on\n`, output)).toBeUndefined();
});

test("a run of an older version, whose blueprint knows no such lines, is read all the same", () => {
  const { failing: _, ...older } = output;
  expect(failingIn("# fail 1\n", older as typeof output)).toBeUndefined();
});

const ran = (more: Partial<Evidence>): Evidence => ({
  gate: "test",
  by: "worker",
  attempts: [],
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
  output: "output/a.log",
  ...more,
});

test("such a run is red and no pass, unless it is known from the base; where it has to be red it is", () => {
  const [says, known] = [ran({ failing: "# fail 1" }), ran({ failing: "# fail 1", known: true })];
  expect([ran({}), says, known].map(isRed)).toEqual([false, true, false]);
  expect([ran({}), says, known].map(isPass)).toEqual([true, false, true]);
  expect([ran({}), says].map((each) => isMet({ red: true }, each))).toEqual([false, true]);
  expect([ran({}), says].map((each) => isMissed({ red: true }, each))).toEqual([true, false]);
});
