// Prints how the code is laid out, for whoever wants to look; it is no gate: lines of code and
// tokens a line in each part, and what is long: declarations of more than 60 lines, files of more
// than 350. A declaration counts from its first line to the brace that closes it at the margin.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const PARTS = ["rails", "installer", "demo", "scripts"];
const LONG_DECLARATION = 60;
const LONG_FILE = 350;
const TOKEN = /[A-Za-z_$][\w$]*|\d+|=>|\.\.\.|[^\s\w]/g;
const STRING = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`/g;
const COMMENT = /^(\/\/|\/\*|\*)/;
const BEGIN = /^(?:export )?(?:async )?(?:function\*? |class |const )(\w+)/;

function* codeIn(path) {
  if (statSync(path).isFile()) {
    if (/\.(ts|mjs|js)$/.test(path)) yield path;
    return;
  }
  for (const name of readdirSync(path).sort())
    if (name !== "sample" && name !== "edits") yield* codeIn(join(path, name));
}

/** The declarations of a file that are long: name, and how many lines. */
function longIn(lines) {
  const long = [];
  for (const [start, line] of lines.entries()) {
    const [, name] = BEGIN.exec(line) ?? [];
    if (name === undefined || !/[({[]$/.test(line)) continue;
    const length = lines.slice(start + 1).findIndex((each) => /^[)\]}]/.test(each)) + 2;
    if (length > LONG_DECLARATION) long.push({ name, length });
  }
  return long;
}

for (const part of PARTS) {
  let files = 0;
  let code = 0;
  let tokens = 0;
  const long = [];
  for (const path of codeIn(part)) {
    const lines = readFileSync(path, "utf8").split("\n");
    files++;
    for (const line of lines) {
      const text = line.trim();
      if (text === "" || COMMENT.test(text)) continue;
      code++;
      tokens += (text.replace(STRING, "S").match(TOKEN) ?? []).length;
    }
    if (lines.length > LONG_FILE) long.push(`  ${path}: ${lines.length} lines`);
    for (const { name, length } of longIn(lines)) long.push(`  ${path}: ${name}, ${length} lines`);
  }
  const dense = (tokens / code).toFixed(1);
  console.log(`${part}: ${files} files, ${code} lines of code, ${dense} tokens a line`);
  for (const line of long) console.log(line);
}
