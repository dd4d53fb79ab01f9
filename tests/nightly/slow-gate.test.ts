import { test } from "vitest";
import { slowGate } from "../e2e/slow-gate.ts";
import { MODES } from "../e2e/world.ts";

// Longer than a Bash call may take by default, and than the rails wait in one call.
test.concurrent.each(MODES)("in %s mode a gate of more than two minutes runs once and lands", (mode) =>
  slowGate(130, mode),
);
