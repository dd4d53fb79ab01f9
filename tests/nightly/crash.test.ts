import { expect, test, vi } from "vitest";
import { comesTo, crashable, END, uninterrupted } from "../cli/rails/crash.ts";
import type { Point } from "../cli/rails/crash-point.ts";

// Some hundred and fifty runs, each of some eighty processes.
vi.setConfig({ testTimeout: 10_800_000 });

test("killed before and after each event of the journal, a run comes to the same end", async () => {
  const program = await crashable();
  const { end, kinds } = await uninterrupted(program);
  expect(end).toEqual(END);
  const points = kinds.flatMap((kind, index): Point[] => {
    const nth = kinds.slice(0, index + 1).filter((other) => other === kind).length;
    // Of a run whose very first line is torn nobody knows: there is nothing to go on with.
    const torn: Point[] = nth === 1 && index > 0 ? [{ moment: "torn", kind, nth }] : [];
    return [{ moment: "before", kind, nth }, ...torn, { moment: "after", kind, nth }];
  });
  const failed: string[] = [];
  // `MINION_SLICE=2/3` is the second third of them.
  const [slice = 1, of = 1] = process.env.MINION_SLICE?.split("/").map(Number) ?? [];
  const left = points.filter((_, index) => index % of === slice - 1);
  const lane = async (): Promise<void> => {
    for (let point = left.shift(); point; point = left.shift()) {
      const { moment, kind, nth } = point;
      await comesTo(program, [point], end).catch((error: Error) => {
        failed.push(`${moment} ${kind} ${nth}: ${error.message}`);
      });
    }
  };
  await Promise.all([lane(), lane()]);
  console.log(`crash points: ${points.length}, at ${kinds.length} events`);
  expect(failed).toEqual([]);
});
