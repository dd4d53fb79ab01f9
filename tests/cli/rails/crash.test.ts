import { test, vi } from "vitest";
import { comesTo, crashable, END } from "./crash.ts";
import type { Point } from "./crash-point.ts";

// Some eighty processes one after another: on a busy machine each of them is slow.
vi.setConfig({ testTimeout: 600_000 });

/** In the order in which they come; each kill is followed by a fresh session's resume. By night
 * each event has its own run. */
const POINTS: readonly Point[] = [
  { moment: "torn", kind: "dispatched", nth: 2 },
  { moment: "before", kind: "begun", nth: 1 },
  { moment: "before", kind: "landed", nth: 1 },
  { moment: "after", kind: "not-landed", nth: 1 },
];

test("a run that is killed again and again comes to the same end as one that nobody interrupts", async () => {
  await comesTo(await crashable(), POINTS, END);
  console.log(`crash points: ${POINTS.length}, in one run`);
});
