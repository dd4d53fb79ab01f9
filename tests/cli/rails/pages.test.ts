import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Scene } from "./scene.ts";

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(() => scene.destroy());

const FIELDS = "---\ngates:\n  - name: strict\n    run: echo tested\n---\n";
const PAGE = ".claude/minion/blueprint.md";

/** Plan and start both refuse, with these words. */
async function refused(...words: string[]): Promise<void> {
  for (const verb of ["plan", "start"]) {
    const { code, stdout, stderr } = await scene.minion([verb, "-"], { input: "1. One\n" });
    expect(code === 1 || code === 2).toBe(true);
    for (const word of words) expect(stdout + stderr).toContain(word);
  }
  expect(scene.git("branch", "--list", "minion/*")).toBe("");
}

describe("a page that does not begin as one is an error with its line", () => {
  test.each([
    ["a blank line", `\n${FIELDS}`, "blueprint.md:2: the fields open here"],
    ["a comment", `<!-- ours -->\n${FIELDS}`, "blueprint.md:2: "],
    ["a long comment", `<!--\nours\n-->\n\n${FIELDS}`, "blueprint.md:5: "],
    ["a heading", `# Rails\n\n${FIELDS}`, "blueprint.md:3: "],
    ["a space", ` ${FIELDS}`, "blueprint.md:1: "],
    ["a fence", `\`\`\`yaml\n${FIELDS}\`\`\`\n`, "blueprint.md:2: "],
    ["a second mark of the order of bytes", `\uFEFF\uFEFF${FIELDS}`, "blueprint.md:1: "],
    ["a mark below a blank line", `\n\uFEFF${FIELDS}`, "blueprint.md:2: "],
    ["no rule", "gates:\n  - name: strict\n    run: echo\n", "blueprint.md:1: "],
    ["old line ends", FIELDS.replaceAll("\n", "\r"), "blueprint.md:1: "],
    ["a longer rule", FIELDS.replace("---", "----"), "blueprint.md:1: "],
    ["a misspelt field", FIELDS.replace("gates", "gats"), "blueprint.md:2: "],
    ["fields twice", `---\nbounds:\n  workers: 2\n---\n\n${FIELDS}`, "blueprint.md:6: "],
  ])("%s", async (_, text, words) => {
    scene.write(PAGE, text);
    await refused(words);
  });

  test("two bytes for each letter", async () => {
    scene.write(PAGE, Buffer.from(`\uFEFF${FIELDS}`, "utf16le") as unknown as string);
    await refused("blueprint.md:1: ");
  });

  test("one mark, other line ends and an empty page are no error", async () => {
    scene.write(PAGE, `\uFEFF${FIELDS.replaceAll("\n", "\r\n")}`);
    expect((await scene.minion(["plan", "-"], { input: "1. One\n" })).code).toBe(0);
    scene.write(PAGE, "\n");
    expect((await scene.minion(["plan", "-"], { input: "1. One\n" })).code).toBe(0);
  });
});

/** Where case makes no difference it is the blueprint. */
const CASED = process.platform === "linux" ? "Blueprint.md" : "blueprnt.md";

describe("so are the other pages", () => {
  const PHASES = '---\nwhen: "x"\nphases:\n  - name: implement\n---\n';
  test.each([
    ["workflows/own.md", `\n${PHASES}`, "own.md:2: "],
    ["workflows/own.md", `${PHASES}\n## Implment\n\nDo it.\n`, "own.md:7: "],
    ["overlays/own.md", "\n---\nwhen: x\n---\nHow.\n", "own.md:2: "],
    ["overlays/own.md", "---\nwhen: x\nkind: rol\n---\nHow.\n", "own.md:3: "],
    ["overlays/own.md", "---\nwen: x\n---\nHow.\n", "own.md:2: "],
    ["guides/own.md", "# x\n---\nwhen: x\n---\nHow.\n", "own.md:2: "],
    ["toolchains.md", "---\ntest: npm test\n---\n| test | `x` | `a` |\n", "toolchains.md:2: "],
    ["toolchains.md", "| test | `x` | `a` |\n  | lint | `x` | `a` |\n", "toolchains.md:2: "],
    ["toolchains.md", "| test | `x` | `a` |\nlint | `x` | `a` |\n", "toolchains.md:2: "],
    ["toolchains.md", "| tset | `x` | `a` |\n", "toolchains.md:1: "],
    ["prices.md", "| a | 1 | 2 | 3 | 4 |\n | b | 1 | 2 | 3 | 4 |\n", "prices.md:2: "],
    ["bluprint.md", FIELDS, "bluprint.md:1: nothing reads this"],
    [CASED, FIELDS, `${CASED}:1: nothing reads this`],
    ["blueprint.yaml", FIELDS, "blueprint.yaml:1: nothing reads this"],
    ["patterns.md", FIELDS, "patterns.md:1: nothing reads this"],
    ["workflow/own.md", PHASES, "workflow:1: nothing reads this"],
  ])("%s: %j", async (name, text, words) => {
    if (name.toLowerCase().startsWith("bl")) scene.git("rm", "-q", PAGE);
    scene.write("package.json", '{"scripts":{"test":"node --test"}}');
    scene.write(`.claude/minion/${name}`, text);
    await refused(words);
  });

  test("a person's own, and notes beside them are left alone", async () => {
    scene.write("../.claude/minion/blueprint.md", "\n---\nbounds:\n  workers: 2\n---\n");
    await refused(".claude/minion/blueprint.md:2: ");
    scene.write("../.claude/minion/blueprint.md", "---\nbounds:\n  workers: 2\n---\n");
    scene.write(".claude/minion/README.md", "Our rails.\n");
    scene.write(".claude/minion/overlays/own.md", "How.\n\n---\n\nMore.\n\n---\n");
    expect((await scene.minion(["plan", "-"], { input: "1. One\n" })).code).toBe(0);
  });
});
