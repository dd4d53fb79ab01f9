import type { ScriptedTask } from "../../../demo/worker-script.ts";
import { handoff } from "../../handoff.ts";
import type { Files } from "../left.ts";

export const START: Files = {
  "src/start.js": "export const start = 1;\n",
  "test/start.test.js": `import test from "node:test";\ntest("start", () => {});\n`,
};

/** A function of one number, with its test. @param made what the function really does */
export const fn = (n: number, made = `x * ${n}`): Files => ({
  [`src/f${n}.js`]: `export const f${n} = (x) => ${made};\n`,
  [`test/f${n}.test.js`]: `import assert from "node:assert/strict";\nimport test from "node:test";\nimport { f${n} } from "../src/f${n}.js";\ntest("f${n}", () => assert.equal(f${n}(2), ${n * 2}));\n`,
});

export const ticket = (n: number, more = ""): string =>
  `### Task ${n}: Times ${n}\n\`f${n}\` of src/f${n}.js gives ${n} times its number.\nFiles: src/f${n}.js, test/f${n}.test.js\n${more}Done when: tested, and the tests pass\nVerify: npm test\nRisk: low\nWorkflow: quick\n`;

export const tickets = (...numbers: number[]): string => numbers.map((n) => ticket(n)).join("\n");

/** How a worker that is a script does a task well. */
export const scripted = (
  n: number,
  files: Files,
  first: ScriptedTask["steps"] = [],
): ScriptedTask => ({
  steps: [...first, ...Object.entries(files).map(([path, content]) => ({ write: path, content }))],
  commit: `feat: add f${n}`,
  handoff: handoff(`f${n} with its test`),
});

/** A person's blueprint for a context that may think for long between two calls: what a list runs is
 * agreed to. */
export const PATIENT = "---\nbounds:\n  lease: 240\n  depth: 1\nallow+:\n  - node\n---\n";
