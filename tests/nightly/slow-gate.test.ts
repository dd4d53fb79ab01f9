import { test } from "vitest";
import { impatient } from "../e2e/behaviours.ts";
import { slowGate } from "../e2e/slow-gate.ts";
import { MODES } from "../e2e/world.ts";

test("a gate that outlives its call runs once and holds its worker, uncounted", () =>
  slowGate(15, "auto", impatient));

// Longer than a Bash call may take by default, and than the rails wait in one call.
test.concurrent.each(MODES)(
  "in %s mode a gate of more than two minutes runs once and lands",
  (mode) => slowGate(130, mode),
);
