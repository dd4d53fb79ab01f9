import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    exclude: ["tests/nightly/**"],
    // One more than the two cores of a small machine: a session of the real client waits about a third of its time.
    maxWorkers: 3,
    globalSetup: "tests/e2e/pack.ts",
    testTimeout: 200_000,
    hookTimeout: 200_000,
  },
});
