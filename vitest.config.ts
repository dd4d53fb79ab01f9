import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { pageParts } from "./scripts/page.mjs";

/** The files that take longest, by what their path holds. Started last, they would run on alone. */
const LONGEST = [
  "e2e/judged",
  "rails/slots",
  "installer/client",
  "e2e/road.",
  "e2e/",
  "rails/road",
  "rails/crash",
  "cli/",
  "rails/runs",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((part) => moduleId.includes(part));
      return at < 0 ? LONGEST.length : at;
    };
    return [...files].sort((a, b) => rank(a) - rank(b));
  }
}

/** As the build sets them. */
const { define: page } = await pageParts();
const version: string = JSON.parse(readFileSync("package.json", "utf8")).version;

/** What takes the place of modules or of the globals for its whole file. */
const ALONE = ["tests/unit/rails/{runs,views}.test.ts"];

export default defineConfig({
  define: { __VERSION__: JSON.stringify(version), ...page },
  test: {
    // One more than the two cores of a small machine: a session of the real client waits about a
    // third of its time.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    testTimeout: 400_000,
    hookTimeout: 400_000,
    projects: [
      {
        extends: true,
        // Modules of the program keep nothing, so that files of one worker read them once.
        test: {
          name: "unit",
          include: ["tests/unit/**/*.test.ts"],
          exclude: ALONE,
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: "alone", include: [...ALONE, "tests/assets/**/*.test.ts"] },
      },
      {
        extends: true,
        test: { name: "cli", include: ["tests/{cli,trials}/**/*.test.ts"], isolate: false },
      },
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["tests/e2e/**/*.test.ts"],
          globalSetup: "tests/e2e/pack.ts",
        },
      },
    ],
  },
});
