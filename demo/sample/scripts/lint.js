// A small linter: every file parses, ends with one line end, has no stray spaces; the service itself logs nothing.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
// Parses a module without running it, and all files in one process (a `node --check` takes one for each).
import { SourceTextModule } from "node:vm";

const RULES = [
  { name: "parses", in: /./, finds: syntaxErrors },
  { name: "no-trailing-space", in: /./, finds: (text) => lines(text, /[ \t]+$/) },
  { name: "no-tab", in: /./, finds: (text) => lines(text, /\t/) },
  { name: "no-console", in: /^src\//, finds: (text) => lines(text, /\bconsole\.\w+\(/) },
  {
    name: "one-final-newline",
    in: /./,
    finds: (text) => (/[^\n]\n$/.test(text) ? [] : ["at the end"]),
  },
];

function lines(text, pattern) {
  return text
    .split("\n")
    .flatMap((line, index) => (pattern.test(line) ? [`line ${index + 1}`] : []));
}

function syntaxErrors(text) {
  try {
    new SourceTextModule(text);
    return [];
  } catch (error) {
    return [error.message];
  }
}

async function check(path) {
  const text = await readFile(path, "utf8");
  return RULES.filter((rule) => rule.in.test(path)).flatMap((rule) =>
    rule.finds(text).map((what) => `${path}: ${rule.name}: ${what}`),
  );
}

const files = [];
for (const folder of ["src", "test", "scripts"]) {
  const found = await readdir(folder, { recursive: true });
  files.push(...found.filter((name) => name.endsWith(".js")).map((name) => join(folder, name)));
}
const findings = (await Promise.all(files.map(check))).flat();
for (const finding of findings) process.stdout.write(`${finding}\n`);
process.stdout.write(`${files.length} files, ${findings.length} findings\n`);
process.exitCode = findings.length > 0 ? 1 : 0;
