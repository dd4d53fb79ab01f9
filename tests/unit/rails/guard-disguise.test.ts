import { expect, test } from "vitest";
import { foremanTool } from "../../../rails/guard/foreman-tool.ts";
import { refusal } from "../../../rails/guard/refuse.ts";
import { pick, random } from "../plan/random.ts";
import { SHIPPED } from "./run.ts";

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const coded = (text: string): string => Buffer.from(text).toString("base64");

/** Ways to have a shell run a line that does not stand there as it is, with names of their own. */
const DISGUISES: readonly ((line: string, own: string) => string)[] = [
  (line) => `sh -c ${quoted(line)}`,
  (line) => `timeout 5 env A=1 bash -ec ${quoted(line)}`,
  (line) => `eval ${quoted(line)}`,
  (line) => `echo ${quoted(line)} | sh`,
  (line) => `printf '%s\\n' ${quoted(line)} | bash -s`,
  (line) => `bash <(printf %s ${quoted(line)})`,
  (line) => `source <(printf %s ${quoted(line)})`,
  (line) => `sh <<< ${quoted(line)}`,
  (line, own) => `sh <<'END${own}'\n${line}\nEND${own}`,
  (line, own) => `cat <<'END${own}' | sh\n${line}\nEND${own}`,
  (line) => `echo ${coded(line)} | base64 -d | sh`,
  (line) => `base64 -d <<< ${coded(line)} | tr a a | sh`,
  (line) => `eval "$(echo ${coded(line)} | base64 -d)"`,
  (line) => `openssl enc -d -aes-256-cbc -in x | sh # ${line.replaceAll("\n", " ")}`,
  (line, own) => `c${own}=${quoted(line)}; eval "$c${own}"`,
  (line, own) => `c${own}=${quoted(line)}; d${own}="$c${own}"; sh -c "$d${own}"`,
  (line, own) => `printf -v c${own} %s ${quoted(line)}; eval "$c${own}"`,
  (line, own) => `f${own}() {\n${line}\n}; f${own}`,
  (line, own) => `f${own}() { eval "$1"; }; f${own} ${quoted(line)}`,
  (line) => `set -- ${quoted(line)}; eval "$1"`,
  (line, own) => `printf %s ${quoted(line)} > x${own}.sh; sh x${own}.sh`,
  (line, own) => `cat > x${own} <<'END${own}'\n${line}\nEND${own}\n. ./x${own}`,
  (line) => `echo 1 | xargs -I% sh -c ${quoted(line)}`,
  (line) => `if true; then\n${line}\nfi`,
  (line) => `for i in 1 2; do\n${line}\ndone`,
  (line) => `(\n${line}\n)`,
  (line) => `npm test && {\n${line}\n}`,
  (line) => `x=$(\n${line}\n)`,
  (line) => `trap ${quoted(line)} EXIT`,
  (line) => `a=(sh -c ${quoted(line)}); "\${a[@]}"`,
];

const SEEDS = Array.from({ length: 500 }, (_, seed) => seed);

/** A line within up to three disguises. */
function disguised(line: string, seed: number): string {
  const next = random(seed);
  const times = 1 + Math.floor(next() * 3);
  return Array.from({ length: times }).reduce<string>(
    (text) => pick(next, DISGUISES)(text, `${text.length}`),
    line,
  );
}

const isRefused = (line: string): boolean =>
  refusal(line, "minion/r1/1-one.1", SHIPPED.refuse) !== null;

test("however a forbidden line is disguised, a worker is refused it", () => {
  for (const seed of SEEDS)
    for (const line of ["git stash", "minion land 1", "git push --force"]) {
      const text = disguised(line, seed);
      expect([text, isRefused(text)]).toEqual([text, true]);
    }
});

test("however a person's decision is disguised, the session is not let through, and asked where it is named", async () => {
  for (const seed of SEEDS) {
    const command = disguised("minion merge", seed);
    const call = { tool_name: "Bash", tool_input: { command } };
    const decision = (await foremanTool(call, null, null))?.decision ?? null;
    const expected = command.includes("minion") ? ["ask"] : ["ask", null];
    expect(expected, command).toContain(decision);
  }
});

test("a plain line stays unrefused in the same disguises, where it can be read there", () => {
  const hiding = /base64|openssl/;
  for (const seed of SEEDS) {
    const text = disguised("npm test", seed);
    if (hiding.test(text)) continue;
    expect([text, isRefused(text)]).toEqual([text, false]);
  }
});
