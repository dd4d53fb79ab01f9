import { test } from "vitest";
import { impatient } from "./behaviours.ts";
import { slowGate } from "./slow-gate.ts";

// In the other mode by night, with a gate of more than two minutes.
test("a gate that outlives its call runs once and holds its worker, uncounted", () => slowGate(15, "auto", impatient));
