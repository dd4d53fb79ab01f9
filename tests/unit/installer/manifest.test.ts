import { describe, expect, it } from "vitest";
import { type Manifest, parseManifest } from "../../../installer/manifest.ts";
import { parentsOf, planChange } from "../../../installer/plan.ts";
import type { Disk, Entry } from "../../../installer/scan.ts";

const hash = "a".repeat(64);
const good: Manifest = {
  version: 1,
  package: "0.1.0",
  files: { "a/b.md": hash },
  dirs: ["a"],
  made: 3,
};

describe("a manifest", () => {
  it("comes back as it was written", () => {
    expect(parseManifest(JSON.stringify(good))).toEqual(good);
  });

  it.each<[string, unknown]>([
    ["cut off", '{"version":1,'],
    ["empty", ""],
    ["null", null],
    ["a list", []],
    ["of another version", { ...good, version: 2 }],
    ["without a package", { ...good, package: 1 }],
    ["with a wrong hash", { ...good, files: { a: "x" } }],
    ["with files that are no object", { ...good, files: "a" }],
    ["that leads out", { ...good, files: { "../a": hash } }],
    ["that leads out in the middle", { ...good, files: { "a/../../b": hash } }],
    ["that leads out by a backslash", { ...good, files: { "a\\..\\..\\b": hash } }],
    ["with a full path", { ...good, files: { "/etc/passwd": hash } }],
    ["with a drive", { ...good, files: { "C:\\x": hash } }],
    ["with a folder outside", { ...good, dirs: ["../x"] }],
    ["with folders above that are no number", { ...good, made: ["../x"] }],
    ["with fewer than no folders above", { ...good, made: -1 }],
  ])("%s is an error, never an empty one", (_, value) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    expect(() => parseManifest(text)).toThrow();
  });
});

describe("the plan, without a disk", () => {
  const file = (of: string, executable = false): Entry => ({
    kind: "file",
    hash: of.repeat(64),
    executable,
  });
  const pack = {
    version: "2",
    files: new Map([
      ["bin/minion", { source: "", hash: "b".repeat(64), executable: true }],
      ["SKILL.md", { source: "", hash: "c".repeat(64), executable: false }],
    ]),
  };
  const place = {
    root: "/r",
    why: "",
    target: "/r/skills/minion",
    real: "/r/skills/minion",
    literal: undefined,
  };
  const plan = (entries: [string, Entry][], files?: Record<string, string>, force = false) => {
    const disk: Disk = {
      target: "folder",
      entries: new Map(entries),
      absent: 0,
      leftover: false,
      twins: [],
      saved: [],
      broken: false,
      manifest: files ? { ...good, files, dirs: ["bin"] } : null,
    };
    return planChange({ verb: "install", pack, disk, place, force, now: new Date(0) });
  };

  it("is the same for the same situation, and does not change what it is given", () => {
    const entries: [string, Entry][] = [
      ["bin", { kind: "folder" }],
      ["bin/minion", file("x")],
    ];
    const before = JSON.stringify(entries);
    expect(plan(entries)).toEqual(plan(entries));
    expect(JSON.stringify(entries)).toBe(before);
  });

  it.each<[string, [string, Entry][], string[]]>([
    [
      "skill.md where SKILL.md is to lie",
      [["skill.md", file("x")]],
      ["case /r/skills/minion/skill.md"],
    ],
    [
      "BIN where bin is to be",
      [
        ["BIN", { kind: "folder" }],
        ["BIN/x", file("x")],
      ],
      ["case /r/skills/minion/BIN"],
    ],
    [
      "both, which only a disk that tells them apart can have",
      [
        ["bin", { kind: "folder" }],
        ["BIN", { kind: "folder" }],
      ],
      [],
    ],
    ["a file where a folder is to be", [["bin", file("x")]], ["in-the-way /r/skills/minion/bin"]],
    [
      "a folder where a file is to be",
      [["SKILL.md", { kind: "folder" }]],
      ["in-the-way /r/skills/minion/SKILL.md"],
    ],
    [
      "a link where a folder is to be",
      [["bin", { kind: "link" }]],
      ["in-the-way /r/skills/minion/bin"],
    ],
  ])("on a case-insensitive disk too: %s", (_, entries, expected) => {
    expect(plan(entries).obstacles.map(({ code, file: path }) => `${code} ${path}`)).toEqual(
      expected,
    );
    const forced = plan(entries, undefined, true);
    expect(forced.obstacles).toEqual([]);
    expect(forced.saved).toHaveLength(expected.length);
    expect(
      forced.actions.filter(({ path }) => forced.saved.includes(path) && path !== "SKILL.md"),
    ).toEqual([]);
  });

  it("takes one action per path, each file's parents being folders", () => {
    const known = {
      "bin/minion": "a".repeat(64),
      "SKILL.md": "a".repeat(64),
      "SKILL.md.new": "a".repeat(64),
    };
    const { actions } = plan(
      [
        ["bin", { kind: "folder" }],
        ["bin/minion", file("a", true)],
        ["SKILL.md", file("e")],
        ["SKILL.md.new", file("f")],
        ["x", { kind: "other" }],
      ],
      known,
    );
    expect(actions).toEqual([
      { path: "SKILL.md", do: "edited" },
      { path: "SKILL.md.new", do: "edited" },
      { path: "SKILL.md.new2", do: "beside", from: "SKILL.md" },
      { path: "bin/minion", do: "replace", from: "bin/minion" },
      { path: "x", do: "foreign" },
    ]);
    expect(parentsOf("a/b/c")).toEqual(["a", "a/b"]);
  });
});
