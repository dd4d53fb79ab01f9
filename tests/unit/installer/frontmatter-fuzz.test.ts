import { expect, it } from "vitest";
import { parseDocument } from "yaml";
import { checkPrompt, checkTogether } from "../../../installer/rules.ts";
import { chance } from "./random.ts";

const RUNS = process.env.MINION_NIGHTLY ? 200_000 : 2_000;
const OPENERS = [
  "---",
  "---",
  "---",
  "---",
  "---",
  "---js",
  "---javascript",
  "---json",
  "--- yaml",
  "----",
  " ---",
  "",
  "\uFEFF---",
  "---coffee",
  "---toml",
];
const KEYS = [
  "name",
  "description",
  "tools",
  "hooks",
  "argument-hint",
  "model",
  "? x",
  "- a",
  "__proto__",
  "constructor",
  "skills",
  "maxTurns",
  "'q",
  "<<",
  "&a b",
  "allowed_tools",
  "disable-model-invocation",
  "",
];
const VALUES = [
  "a",
  '"Good."',
  "Use when: x",
  "[a]",
  "[a] [b]",
  "{a: 1}",
  "{",
  "]",
  "yes",
  "1.0",
  "null",
  "~",
  "*alias",
  "&anchor x",
  "!!js/function x",
  "!<tag:x> y",
  "|",
  ">-",
  "|\n  text\n  more",
  "@x",
  "`x`",
  "%x",
  "'open",
  '"open',
  "\t",
  "\u0000",
  "\u2028",
  "2026-01-01",
  "# no",
  "a # b",
  "globalThis.__ran = true",
  "!!binary x",
  "9".repeat(400),
  "-",
  "? ",
  "🦺",
  "\ud800",
];
const CLOSERS = ["---", "---", "---", "---", "...", "--- ", "----", "", "---\n---"];

it(`reads ${RUNS} generated front matters: no crash, no code run, no fault swallowed`, () => {
  let broken = 0;
  let whole = 0;
  for (let seed = 1; seed <= RUNS; seed++) {
    const random = chance(seed);
    const end = random.pick(["\n", "\n", "\r\n"]);
    const fields = Array.from(
      { length: random.below(5) },
      () =>
        `${random.pick(["", "", "", " ", "  ", "\t"])}${random.pick(KEYS)}${random.pick([": ", ": ", ": ", ":", " ", ""])}${random.pick(VALUES)}`,
    );
    const opener = random.pick(OPENERS);
    const closer = random.pick(CLOSERS);
    const text = [opener, ...fields, closer, "Body $ARGUMENTS", ""]
      .join("\n")
      .replaceAll("\n", end);
    const kind = random.pick(["agent", "command", "skill"] as const);
    const about = `seed ${seed}: ${JSON.stringify(text)}`;
    const { findings, prompt } = checkPrompt({
      text,
      file: "a.md",
      kind,
      base: "a",
      inPlugin: true,
    });
    const lines = text.split("\n").length;
    for (const { message, hint, line } of findings) {
      expect(message.length * hint.length, about).toBeGreaterThan(0);
      expect(message, about).not.toMatch(/undefined|\n\s+at /);
      expect(Number.isInteger(line) && Number(line) >= 1 && Number(line) <= lines, about).toBe(
        true,
      );
    }
    if (prompt) checkTogether([prompt], "plug");
    // Said by another road: a block that YAML cannot read must be found, and one that it can must
    // not.
    const block = /^\uFEFF?---[ \t]*\n([\s\S]*?\n)?---[ \t]*(?:\n|$)/.exec(
      text.replaceAll("\r\n", "\n"),
    );
    const said = findings.some(({ code }) => code === "frontmatter");
    if (block) {
      const document = parseDocument(block[1] ?? "", { stringKeys: true });
      // What the client mends before it reads it loads, each value whole.
      const mended = said ? null : prompt?.markdown.data;
      if (document.errors.length > 0 && mended)
        for (const [, name = "", value = ""] of block[0].matchAll(/^([a-z_-]+): +([@%`].*\S)$/gim))
          expect(String(mended[name]), about).toBe(value);
    } else if (/^\uFEFF?---/.test(text)) expect(said, about).toBe(true);
    if (said) broken++;
    else whole++;
    expect(
      checkPrompt({ text, file: "b.md", kind, base: "a", inPlugin: true }).findings.map(
        ({ code }) => code,
      ),
      about,
    ).toEqual(findings.map(({ code }) => code));
  }
  expect((globalThis as { __ran?: boolean }).__ran).toBeUndefined();
  expect(Math.min(broken, whole)).toBeGreaterThan(RUNS / 10);
  console.log(`front matters: ${whole} read, ${broken} refused`);
}, 600_000);
