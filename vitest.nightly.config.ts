import { defineConfig, mergeConfig } from "vitest/config";
import shared from "./vitest.config.ts";

/** Slow by their nature, and some of the day's with many more cases (MINION_NIGHTLY). */
const NIGHTLY = [
  "tests/nightly/*.test.ts",
  "tests/unit/installer/{property,frontmatter-fuzz}.test.ts",
  "tests/unit/plan/{conflicts,fuzz,write-list}.test.ts",
  "tests/unit/rails/runs.test.ts",
  "tests/cli/installer/kill.test.ts",
  "tests/cli/rails/{choices,landing,made,merge,queue,road,whatever,whose}.test.ts",
  "tests/cli/demo/sample.test.ts",
  "tests/e2e/evals.test.ts",
];

// One project, each file by itself.
const { projects: _, ...rest } = shared.test ?? {};

// What takes minutes by its nature, whatever the machine.
export default mergeConfig(
  { ...shared, test: rest },
  defineConfig({
    test: { include: NIGHTLY, globalSetup: "tests/e2e/pack.ts", testTimeout: 1_800_000 },
  }),
);
