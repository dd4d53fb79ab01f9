import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    // Two cores: a few processes of the real client at once make every one of them slow.
    maxWorkers: 2,
    globalSetup: "tests/e2e/pack.ts",
    testTimeout: 200_000,
    hookTimeout: 60_000,
  },
});
