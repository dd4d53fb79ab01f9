import { test } from "vitest";
import { crowd } from "./crowd.ts";

// By night there are fifty, ten times over.
test("workers of two runs that do everything at once get in nobody's way", () =>
  crowd({ rounds: 1, runs: 2, workers: 3 }));
