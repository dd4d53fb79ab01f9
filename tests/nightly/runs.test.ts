import { test } from "vitest";
import { realRuns } from "./real.ts";

// Each is a repository with some hundred calls of git: a minute or two on a machine that does other
// things as well.
test("random runs on real git", () => realRuns(60, 4), 5_400_000);
