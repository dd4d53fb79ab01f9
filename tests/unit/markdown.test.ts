import { describe, expect, test } from "vitest";
import { readMarkdown } from "../../rails/blueprint/markdown.ts";

describe("frontmatter", () => {
  test("fields, body and the line of each", () => {
    const file = readMarkdown(
      "---\nname: x\ngates:\n  - name: lint\n    run: a\n---\n\nbody\n",
      "x.md",
    );
    expect(file.data).toEqual({ name: "x", gates: [{ name: "lint", run: "a" }] });
    expect(file.body.trim()).toBe("body");
    expect(file.lineOf(["gates", 0, "run"])).toBe(5);
    expect(file.lineOf(["gates", 0, "none"])).toBe(4);
    expect(file.bodyLine).toBe(7);
  });
  test("none, empty, CRLF and BOM", () => {
    expect(readMarkdown("just text", "x.md").data).toEqual({});
    expect(readMarkdown("", "x.md").data).toEqual({});
    expect(readMarkdown("---\n---\nbody", "x.md")).toMatchObject({ data: {}, body: "body" });
    expect(readMarkdown("\uFEFF---\r\nname: x\r\n---\r\nbody\r\n", "x.md")).toMatchObject({
      data: { name: "x" },
      body: "body\n",
    });
  });
  test("a broken file is an error with its line, every time it is read", () => {
    const text = "---\nname: x\ndescription: Use when: foo\n---\n";
    for (let time = 0; time < 2; time++)
      expect(() => readMarkdown(text, "a/x.md")).toThrow(/^a\/x\.md:3: /);
  });
  test.each([
    "---js\nmodule.exports = {a: 1}\n---\n",
    "---json\n{}\n---\n",
    "--- yaml\na: 1\n---\n",
    "----\na: 1\n---\n",
  ])("%j is not evaluated", (text) =>
    expect(() => readMarkdown(text, "x.md")).toThrow(/x\.md:1: /),
  );
  test.each([
    "---\nname: x\n",
    "---\n- a\n---\n",
    "---\ntext\n---\n",
    "---\na: 1\na: 2\n---\n",
    "---\na: [1\n---\n",
    "---\na: *nowhere\n---\n",
  ])("%j is refused", (text) => expect(() => readMarkdown(text, "x.md")).toThrow(/^x\.md:\d+: /));
});
