import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Place } from "../git/repository.ts";
import { matches } from "../plan/conflicts.ts";
import { type Finding, finding, type Plan, type PlannedTask } from "../plan/task.ts";
import { isOnPath } from "./flight-commands.ts";

/** Words that a shell knows itself and that also begin a sentence: alone they make no command. */
const ALSO_ENGLISH =
  /^(break|case|command|continue|do|echo|exit|false|for|if|read|return|set|shift|test|time|true|type|until|wait|while)$/;

/** Words with which people write sentences, and hardly commands. */
const OF_SENTENCES =
  /(?<=\s)(the|that|an|is|are|and|it|its|all|should|must|when|with|works?)(?=\s|[.,;:!]?$)/i;

/** What the words under `Verify:` are held against. */
type Where = Readonly<{ place: Place; tasks: readonly PlannedTask[]; isOurs: boolean }>;

/** A task with the commands of its `Verify:`: what is written as code, and lines whose first word is
 * a program or a file here. Findings: lines that are neither; in lists of others these are words
 * that a worker reads. */
export async function withChecks<T extends PlannedTask>(
  task: T,
  where: Where,
): Promise<{ task: T; findings: Finding[] }> {
  const checks: string[] = [];
  const words: string[] = [];
  for (const line of task.verify.split("\n").filter(Boolean))
    if (task.checks.includes(line) || (await isCommand(line, where))) checks.push(line);
    else words.push(line);
  const findings = task.done ? [] : words.map((line) => noCommand(task, line, where.isOurs));
  return { task: { ...task, checks }, findings };
}

function noCommand({ id, line }: PlannedTask, said: string, isOurs: boolean): Finding {
  const what = `task ${id}: «${said.slice(0, 80)}» under Verify: is no command that there is here`;
  const hint = "write a command in `backticks`, and what is to be seen under Done when:";
  return finding("no-command", line, what, hint, isOurs ? "error" : "warning");
}

/** Can a line be run as it stands, as far as its first word says? */
async function isCommand(line: string, { place, tasks }: Where): Promise<boolean> {
  const plain = line.trim().replace(/^(!\s+)?(\w+=[^\s"'$`]*\s+)*/, "");
  const [first = "", second = ""] = plain.split(/\s+/);
  const rest = plain.replace(/"[^"]*"|'[^']*'/g, "");
  if (OF_SENTENCES.test(rest)) return false;
  if (ALSO_ENGLISH.test(first)) return /^[-!$"'[({]/.test(second);
  if (/^(\[|\[\[|\(|\{|cd|exec|eval|export|source|\.)$/.test(first)) return true;
  if (!/^[\w./~+-]+$/.test(first)) return false;
  if (!first.includes("/")) return isOnPath(first);
  const folders = [place.prefix, ""];
  const isThere = folders.some((folder) => existsSync(join(place.top, folder, first)));
  return isThere || tasks.some(({ files }) => files.some(({ path }) => matches(path, first)));
}

/** The commands that the list's `success:` names as code or on lines of their own; the rest of it is
 * words. */
export async function successOf(
  { success, tasks }: Pick<Plan, "success" | "tasks">,
  place: Place,
): Promise<{ commands: string[]; words: string }> {
  const commands: string[] = [];
  const words: string[] = [];
  for (const line of success.split("\n").filter((one) => one.trim() !== "")) {
    const [, code] = /^\s*(?:[-*+] )?`([^`]+)`\s*$/.exec(line) ?? [];
    const bare = line.replace(/^\s*[-*+] /, "").trim();
    if (code) commands.push(code);
    else if (await isCommand(bare, { place, tasks, isOurs: true })) commands.push(bare);
    else words.push(bare);
  }
  return { commands, words: words.join("\n") };
}
