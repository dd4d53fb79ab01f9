import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makePlan } from "../../../rails/plan/plan.ts";
import { writeList } from "../../../rails/plan/write-list.ts";

const FOLDER = join(import.meta.dirname, "corpus");
const text = (name: string) => readFileSync(join(FOLDER, name), "utf8");
const names = readdirSync(FOLDER).flatMap((name) =>
  name.endsWith(".txt") ? [name.replace(".txt", "")] : [],
);

/** What a person takes from a list, a line for each task, and then each finding that has a line. */
function reading(list: string): string {
  const { tasks, findings } = makePlan(list, "list");
  const rows = tasks.map(({ id, title, depends, files, done }) =>
    [id, title, depends.join(" "), files.map(({ path }) => path).join(" "), done ? "done" : ""]
      .join(" | ")
      .trimEnd(),
  );
  const faults = findings
    .filter(({ line }) => line > 0)
    .map(({ level, code, line }) => `${level} ${code} ${line}`);
  return [...rows, ...faults, ""].join("\n");
}

test.each(names)("%s is read as a person reads it", (name) => {
  expect(reading(text(`${name}.md`))).toBe(text(`${name}.txt`));
});

test.each(names.filter((name) => !text(`${name}.txt`).includes("\nerror ")))(
  "%s in our form says the same",
  (name) => {
    const tasks = text(`${name}.txt`).replace(/^warning .*\n/gm, "");
    expect(reading(writeList(makePlan(text(`${name}.md`), "list")))).toBe(tasks);
  },
);

test("at least three of each form, short, each with its source", () => {
  const count = (form: string) => names.filter((name) => name.startsWith(form)).length;
  expect(["headed", "numbered", "checks", "kit"].map(count)).toEqual([3, 3, 3, 3]);
  for (const name of names) {
    expect(text(`${name}.md`).split("\n").length, name).toBeLessThanOrEqual(41);
    expect(text("README.md")).toMatch(new RegExp(`^\\| ${name} \\|.*\\| (MIT|BSD|Apache)`, "m"));
  }
});
