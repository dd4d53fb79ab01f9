import { test } from "vitest";
import { crowd } from "../cli/rails/crowd.ts";

test(
  "fifty workers of five runs that do everything at once, ten times over",
  () => crowd({ rounds: 10, runs: 5, workers: 10 }),
  5_400_000,
);
