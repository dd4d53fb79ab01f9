import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The files that take longest, by what their path holds. Started last, they would run on alone. */
const LONGEST = ["e2e/road", "cli/rails/road", "e2e/phases", "e2e/", "cli/"];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((part) => moduleId.includes(part));
      return at < 0 ? LONGEST.length : at;
    };
    return [...files].sort((a, b) => rank(a) - rank(b));
  }
}

/** As the build sets it. */
const version: string = JSON.parse(readFileSync("package.json", "utf8")).version;

export default defineConfig({
  define: { __VERSION__: JSON.stringify(version) },
  test: {
    include: ["tests/**/*.test.ts"],
    exclude: ["tests/nightly/**"],
    // One more than the two cores of a small machine: a session of the real client waits about a third of its time.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    globalSetup: "tests/e2e/pack.ts",
    testTimeout: 400_000,
    hookTimeout: 400_000,
  },
});
