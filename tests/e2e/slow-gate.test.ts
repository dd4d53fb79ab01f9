import { test } from "vitest";
import { impatient } from "./behaviours.ts";
import { slowGate } from "./slow-gate.ts";
import { MODES } from "./world.ts";

test.each(MODES)("in %s mode a gate that outlives its call runs once and holds its worker, uncounted", (mode) =>
  slowGate(8, mode, impatient),
);
