import { test } from "vitest";
import { realRuns } from "./real.ts";

test("random runs on real git", () => realRuns(200, 4));
