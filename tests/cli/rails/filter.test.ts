import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

/** The filter, and in place of `minion` a program that says that it was started. */
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "minion-filter-"));
  for (const name of ["bin", "hooks"]) mkdirSync(join(folder, name));
  const filter = join(import.meta.dirname, "../../../assets/hooks/filter.sh");
  cpSync(filter, join(folder, "hooks/filter.sh"));
  writeFileSync(join(folder, "bin/minion"), "#!/bin/sh\necho started\n", { mode: 0o755 });
});
afterAll(() => rmSync(folder, { recursive: true }));

const isStarted = (input: object): boolean => {
  const call = { session_id: "s", cwd: "/a", hook_event_name: "PreToolUse", ...input };
  const { stdout } = spawnSync("sh", [join(folder, "hooks/filter.sh"), "PreToolUse"], {
    input: JSON.stringify(call),
    encoding: "utf8",
  });
  return stdout === "started\n";
};

test.each([
  ["minion merge", true],
  ["minion\tmerge", true],
  ["'minion' merge", true],
  ['"minion" merge', true],
  ['"min"ion merge', true],
  ["min'ion' merge", true],
  ["mi\\nion merge", true],
  ["m''inion merge", true],
  ['m""inion merge', true],
  ["m'i'n\\ion merge", true],
  ["'m'inion", true],
  ["npm test && m''inion merge", true],
  ["$(which minion) merge", true],
  ["/x/bin/minion merge", true],
  ["minion>x merge", true],
  ["npx minion@1 merge", true],
  ["sh -c 'minion'", true],
  ["true && minion", true],
  ["npm test", false],
  ["cd /home/a/minion-toolkit && npm test", false],
  ["cat minion/README.md", false],
  ["minions all", false],
  ["echo 'union' \"admin\"", false],
  ["node build.js --minify", false],
  ["echo 'm' 'onion'", false],
  ["rm 'min' ion; npm run \"admin\"", false],
  ["m''inions all", false],
])("the rails look at a session's %j: %s", (command, expected) => {
  expect(isStarted({ tool_name: "Bash", tool_input: { command } })).toBe(expected);
});

test("whatever a worker calls is looked at, and nothing for the folder's name alone", () => {
  const call = { tool_name: "Bash", tool_input: { command: "npm test" } };
  expect(isStarted({ ...call, agent_type: "minion:minion-worker" })).toBe(true);
  expect(isStarted({ ...call, cwd: "/home/a/minion work" })).toBe(false);
  const quoted = { tool_name: "Bash", tool_input: { command: "m''inion merge" } };
  expect(isStarted({ ...quoted, cwd: "/home/a/minion work" })).toBe(true);
});
