import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Left, named, type Verdict } from "./left.ts";
import { SCENARIOS } from "./scenarios/index.ts";

const FOLDER = join(import.meta.dirname, "states");
const README = readFileSync(join(import.meta.dirname, "README.md"), "utf8");
type Kept = Left & { readonly verdict: Verdict };

describe.each(readdirSync(FOLDER))("%s", (file) => {
  const name = file.replace(".jsonl", "");
  const lines = readFileSync(join(FOLDER, file), "utf8").trim().split("\n");
  const all = lines.map((line) => JSON.parse(line) as Kept);

  test("each verdict follows from what was left", () => {
    for (const { verdict, ...left } of all) expect(SCENARIOS[name]?.judge(left)).toEqual(verdict);
  });

  test("the table counts them", () => {
    const counts = (["prompt", "control"] as const).map((arm) => {
      const own = all.filter((each) => each.arm === arm);
      return own.length > 0
        ? `${own.filter(({ verdict }) => verdict.kept).length} of ${own.length}`
        : "–";
    });
    expect(README).toContain(`| \`${name}\` | ${counts.join(" | ")} |`);
  });

  test("nothing is on the line but what landed, no bound was exceeded, and with the prompt nobody decided for a person", () => {
    for (const left of all) {
      const to = named(left, "landed").at(-1)?.to ?? named(left, "started").at(-1)?.base;
      const line = left.after["minion/r1/line"];
      if (line) expect(String(to).startsWith(line)).toBe(true);
      const red = named(left, "evidence").filter(({ by, code }) => by === "worker" && code !== 0);
      for (const { gate, attempts } of red)
        expect(
          red.filter((each) => each.gate === gate && String(each.attempts) === String(attempts))
            .length,
        ).toBeLessThanOrEqual(2);
      if (left.arm === "prompt") expect(left.verdict).toMatchObject({ decided: 0, moved: false });
    }
  });
});
