import { defineConfig, mergeConfig } from "vitest/config";
import shared from "./vitest.config.ts";

// What takes minutes by its nature, whatever the machine.
export default mergeConfig(
  { ...shared, test: { ...shared.test, include: [], exclude: [] } },
  defineConfig({ test: { include: ["tests/nightly/*.test.ts"], testTimeout: 900_000 } }),
);
