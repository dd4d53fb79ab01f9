import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    exclude: ["tests/nightly/**"],
    // Two cores: a few processes of the real client at once make every one of them slow.
    maxWorkers: 2,
    globalSetup: "tests/e2e/pack.ts",
    testTimeout: 200_000,
    hookTimeout: 200_000,
  },
});
