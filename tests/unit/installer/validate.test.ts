import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkFolder, validate } from "../../../installer/validate.ts";
import { lay, makeAssets, temporary } from "./fixture.ts";

/** Without a client on PATH. */
const QUIET = { env: {}, cwd: "/", home: "/" };
const GOOD = '---\nname: a\ndescription: "Good."\n---\n\nText.\n';
const agent = (fields: string, body = "Text.\n"): string =>
  `---\nname: a\ndescription: "Good."\n${fields}---\n\n${body}`;

/** What is found in a plugin of these files: file, line and code. */
function found(files: Record<string, string>): string[] {
  const folder = temporary();
  lay(folder, { ".claude-plugin/plugin.json": '{"name":"plug","version":"1.0.0"}', ...files });
  return checkFolder(folder).map(
    ({ file, line, code }) => `${file.slice(folder.length + 1)}:${line} ${code}`,
  );
}

describe("rails", () => {
  it.each([
    [".claude/minion/blueprint.md", "\n---\ngates: []\n---\n"],
    [".claude/minion/workflows/x.md", "# x\n---\nwhen: x\n---\n"],
    ["skills/minion-blueprint/patterns.md", "---\nx: 1\nallowed: []\n---\n"],
  ])("%s that is read as less than it says is an error with its line", async (path, text) => {
    const folder = temporary();
    lay(folder, {
      ".claude/commands/a.md": GOOD,
      ".claude-plugin/plugin.json": "{}",
      [path]: text,
    });
    const { findings } = await validate(folder, QUIET);
    const found = findings.find(({ code }) => code === "page");
    expect(found).toMatchObject({ level: "error", file: join(folder, path), line: 2 });
  });
});

describe("a prompt's frontmatter", () => {
  it.each([
    [
      "F1 a colon in the description, which the client quotes",
      "---\nname: a\ndescription: Use when reviewing. Examples: foo\n---\n",
      [],
    ],
    ["F1 a bracket that opens the value", "---\nname: a\ndescription: [x] and more\n---\n", []],
    ["F1 a bracket that nothing closes", "---\nname: a\ndescription: [BETA\n---\n", []],
    ["F1 two brackets", agent("argument-hint: [a] [b]\n"), []],
    ["F1 a star", "---\nname: a\ndescription: *x\n---\n", []],
    ["F1 a percent sign", "---\nname: a\ndescription: %x\n---\n", []],
    ["F1 an anchor that hides", "---\nname: a\ndescription: &x amp\n---\n", ["3 read-short"]],
    ["F1 a tag that hides", "---\nname: a\ndescription: !x bang\n---\n", ["3 read-short"]],
    [
      "F1 a comment in a sentence",
      "---\nname: a\ndescription: Fix issue #12 and others\n---\n",
      ["3 read-short"],
    ],
    ["F1 a sentence on two lines", "---\nname: a\ndescription: Fix\n  it\n---\n", []],
    ["F1 nested fields", agent("metadata:\n  author: me\n  deep:\n    er: 1\n"), []],
    ["F1 a tab", "---\nname: a\n\tdescription: x\n---\n", ["3 frontmatter"]],
    ["F1 a field twice", agent("name: b\n"), ["4 frontmatter"]],
    ["F1 an @", "---\nname: a\ndescription: @x\n---\n", []],
    ["F3 CRLF", GOOD.replaceAll("\n", "\r\n"), []],
    [
      "F3 CRLF, and a fault with its line",
      agent("maxTurns: many\n").replaceAll("\n", "\r\n"),
      ["4 not-number"],
    ],
    ["F3 a BOM", `\uFEFF${GOOD}`, ["1 byte-order-mark"]],
    ["F3 an old Mac's line ends", GOOD.replaceAll("\n", "\r"), ["1 frontmatter"]],
    ["F4 an empty file", "", ["1 empty"]],
    ["F4 blanks only", " \n\n", ["1 empty"]],
    ["F4 no frontmatter", "# Hello\n", ["1 no-frontmatter"]],
    ["F4 an empty frontmatter", "---\n---\nText.\n", ["1 no-frontmatter"]],
    ["F4 not closed", "---\nname: a\n", ["1 frontmatter"]],
    ["F4 binary", "\u0000\u0001", ["1 binary"]],
    ["F4 a list", "---\n- a\n---\n", ["2 frontmatter"]],
    ["F6 code", "---js\n{name: process.exit(3)}\n---\n", ["1 frontmatter"]],
    ["F6 code by a longer name", "---javascript\nprocess.exit(3)\n---\n", ["1 frontmatter"]],
    ["F6 JSON", '---json\n{"name":"a"}\n---\n', ["1 frontmatter"]],
    ["a list for text", agent("argument-hint: [a]\n"), ["4 not-text"]],
    ["a number for text", agent("version: 1.0\n"), ["4 not-text"]],
    ["yes for text", agent("model: yes\n"), ["4 yaml-trap"]],
    ["quoted yes", agent('model: "yes"\n'), []],
    ["text for a flag", agent("background: maybe\n"), ["4 not-flag"]],
    ["a field spelt differently", agent("max-turns: 3\n"), ["4 misspelt-field"]],
    ["a field that others define", agent("gates: [lint]\n"), []],
    [
      "fields ignored in plugin agents",
      agent("hooks: {}\nmcpServers: {}\npermissionMode: plan\n"),
      ["4 ignored-field", "5 ignored-field", "6 ignored-field"],
    ],
    ["no name", '---\ndescription: "x"\n---\n', ["1 no-name"]],
    ["no description", "---\nname: a\n---\n", ["1 no-description"]],
    ["a bad name", '---\nname: A b\ndescription: "x"\n---\n', ["2 bad-name"]],
    ["another name than the file's", '---\nname: b\ndescription: "x"\n---\n', []],
    [
      "a description that every session pays for",
      `---\nname: a\ndescription: "${"x".repeat(1025)}"\n---\n`,
      ["3 long-description"],
    ],
    [
      "a reference to nothing",
      agent("skills: [b]\n", "Start plug:gone, `plug:a`, other:x.\n"),
      ["4 unknown-reference", "7 unknown-reference"],
    ],
  ])("%s", (_, text, expected) => {
    for (let time = 1; time <= 2; time++)
      expect(found({ "agents/a.md": text }), `time ${time}`).toEqual(
        expected.map((place) => `agents/a.md:${place}`),
      );
  });

  it("F5: a broken file is broken the second time too, also under another name", () => {
    const broken = "---\nname: 'a\n---\n";
    expect(found({ "agents/a.md": broken, "agents/b.md": broken })).toEqual([
      "agents/a.md:2 frontmatter",
      "agents/b.md:2 frontmatter",
    ]);
  });
});

describe("a folder", () => {
  it("F4: one bad file does not hide another, and each is named", () => {
    const folder = temporary();
    lay(folder, {
      ".claude-plugin/plugin.json": "{",
      "agents/a.md": "---\nx",
      "agents/b.md/": "",
      "agents/c.md": "",
      "agents/sub/d.md": "\u0000",
      "commands/e.md": GOOD.replace("name: a\n", "name: b\n"),
    });
    writeFileSync(join(folder, "agents/latin1.md"), Buffer.from([0x2d, 0xe4, 0x0a]));
    symlinkSync("nowhere", join(folder, "agents/link.md"));
    symlinkSync("loop.md", join(folder, "agents/loop.md"));
    expect(
      checkFolder(folder).map(({ file, code }) => `${file.slice(folder.length + 1)} ${code}`),
    ).toEqual([
      ".claude-plugin/plugin.json not-json",
      "agents/a.md frontmatter",
      "agents/b.md folder",
      "agents/c.md empty",
      "agents/latin1.md binary",
      "agents/link.md unreadable",
      "agents/loop.md unreadable",
      "agents/sub/d.md binary",
      "commands/e.md name-differs",
    ]);
  });

  it("finds names twice, skills without their file, and hooks that run nothing", () => {
    expect(
      found({
        "agents/a.md": GOOD,
        "agents/sub/a.md": GOOD,
        "commands/x.md": '---\ndescription: "x"\n---\n',
        "skills/x/SKILL.md": '---\ndescription: "x"\n---\n',
        "skills/low/skill.md": GOOD,
        "skills/.hidden/": "",
        "hooks/hooks.json":
          '{\n"hooks": {"Stop": [{"hooks": [{"type": "command",\n"command": "\\"$CLAUDE_PLUGIN_ROOT\\"/hooks/gone.sh"}]}]}}',
      }),
    ).toEqual([
      "hooks/hooks.json:3 missing-file",
      "skills/low:undefined no-skill",
      "agents/sub/a.md:2 duplicate-name",
      "skills/x/SKILL.md:1 duplicate-name",
    ]);
  });

  it("reads JSON with its line, and a marketplace with its plugins", async () => {
    const folder = temporary();
    lay(folder, {
      ".claude-plugin/marketplace.json":
        '{"name":"m","plugins":[\n{"name":"p","source":"./plug"},\n{"name":"q","source":"./gone"}]}',
      "plug/.claude-plugin/plugin.json": '{\n"name": "p",\n}',
      "plug/agents/a.md": "",
      ".claude/agents/b.md": "",
      "skills/inner/.claude-plugin/plugin.json": "{}",
      "skills/inner/agents/c.md": "",
    });
    const { findings, files } = await validate(folder, QUIET);
    expect(files).toBe(6);
    expect(
      findings.map(({ file, line, code }) => `${file.slice(folder.length + 1)}:${line} ${code}`),
    ).toEqual([
      ".claude-plugin/marketplace.json:3 missing-file",
      ".claude/agents/b.md:1 empty",
      "plug/.claude-plugin/plugin.json:3 not-json",
      "plug/agents/a.md:1 empty",
      "skills/inner/agents/c.md:1 empty",
    ]);
  });

  it("refuses what holds nothing to check, and what is not there", async () => {
    const folder = temporary();
    mkdirSync(join(folder, "empty"));
    await expect(validate(join(folder, "empty"), QUIET)).rejects.toMatchObject({ code: "usage" });
    await expect(validate(join(folder, "gone"), QUIET)).rejects.toMatchObject({
      code: "not-found",
    });
  });

  it("finds nothing in a good plugin", () => {
    expect(checkFolder(makeAssets())).toEqual([]);
  });
});
