import { join } from "node:path";
import { newRails } from "../blueprint/agreed.ts";
import { promptFor } from "../foreman/dispatch.ts";
import { attentionAt } from "../foreman/look.ts";
import { isUnfinished } from "../foreman/resume.ts";
import type { Place } from "../git/repository.ts";
import { findRun } from "../journal/journal.ts";
import { isActive } from "../journal/state.ts";
import { isAlive } from "../program/process.ts";
import type { Found } from "../worker/attempt.ts";
import { allow, ask, deny, type HookInput, type ToolAnswer } from "./answer.ts";
import { commandsIn, wordsOf } from "./command.ts";
import { realTarget } from "./real-target.ts";

/** Why nothing starts in plan mode, and what does work there. */
const DRY = "plan mode is a dry run: minion plan shows the plan";
const STARTS = /^(start|next|resume)\b/;

/** What of `minion` goes without asking in the session itself, and what asks a person: the first
 * rule that fits a command's words. */
const RULES: readonly Readonly<{ pattern: RegExp; answer: ToolAnswer }>[] = [
  { pattern: /^$/, answer: allow("it only looks") },
  { pattern: /^(--help|-h)\b| (--help|-h)$/, answer: allow("it only looks") },
  { pattern: /^clean (.* )?--dry-run\b/, answer: allow("it only looks") },
  { pattern: /^(land|merge|retry|abort|clean)\b/, answer: ask("this is a person's decision") },
  { pattern: / --(take|new|red-base|agree)\b/, answer: ask("this is a person's decision") },
  {
    pattern: /^(plan|board|report|attention|events|blueprint|overlays|guide)\b/,
    answer: allow("it only looks"),
  },
  { pattern: STARTS, answer: allow("a command of the foreman") },
];

/** Of a project's own rails, so much is shown to the person who is asked. */
const SHOWN = 2000;
const NEW_RAILS =
  "This project's own rails are new here, or have changed. " +
  "They would run (minion blueprint --agree remembers a yes):";

/** A tool call of the session itself: what a run needs goes without asking.
 * @param place the repository that it is in, if it is in one
 * @param found the attempt that its prompt names, if it names one */
export async function foremanTool(
  input: HookInput,
  place: Place | null,
  found: Found | null,
): Promise<ToolAnswer> {
  const { tool_name: tool, tool_input: args = {}, session_id: session = "" } = input;
  const isDry = input.permission_mode === "plan";
  if (tool === "Write") return foremanWrite(String(args.file_path), session);
  if (tool === "Bash") return foremanBash(String(args.command), { isDry, place, session });
  if (tool !== "Agent" || !String(args.subagent_type).startsWith("minion:")) return null;
  if (isDry) return deny(DRY);
  return foremanDispatch(String(args.prompt), found);
}

/** Where a command of the foreman is called. */
type Scene = Readonly<{ isDry: boolean; place: Place | null; session: string }>;

/** A shell text: the first call of `minion` in it that does not go without asking decides. */
async function foremanBash(text: string, scene: Scene): Promise<ToolAnswer> {
  const ours = commandsIn(text).filter(([program]) => program === "minion");
  const answers = await Promise.all(
    ours.map(([, ...words]) => foremanCommand(words.join(" "), scene)),
  );
  const barred = answers.find((answer) => answer !== null && answer.decision !== "allow");
  if (barred) return barred;
  // What a command does beside that is for the person's own settings.
  const isPlain = wordsOf(text)?.[0] === "minion";
  return isPlain ? (answers[0] ?? null) : null;
}

/** What a hook says to `minion` with these words. */
async function foremanCommand(
  words: string,
  { isDry, place, session }: Scene,
): Promise<ToolAnswer> {
  if (isDry && STARTS.test(words)) return deny(DRY);
  const answer = RULES.find(({ pattern }) => pattern.test(words))?.answer ?? null;
  if (answer?.decision !== "allow" || place === null) return answer;
  if (/^resume\b/.test(words)) {
    const halt = await haltIn(place, session, words);
    if (halt) return ask(`The run stands still until a person has seen why: ${halt}`);
  }
  if (/^start\b/.test(words)) {
    const rails = await newRails(place.top, place.common);
    if (rails) return ask(`${NEW_RAILS}\n${rails.text.slice(0, SHOWN)}`);
  }
  return answer;
}

/** Why the run that a resume is about stands still (an alarm, a spent budget), where the session
 * that leads it is still there: that session must not lift its own pause. Empty where a resume only
 * goes on with what was lost. */
async function haltIn(place: Place, session: string, words: string): Promise<string> {
  const [, name] = /--run[ =](\S+)/.exec(words) ?? [];
  const { state } =
    (await findRun(place.common, session, name, isUnfinished).catch(() => null)) ?? {};
  if (state?.session !== session) return "";
  if (state.owner !== null && !(await isAlive(state.owner))) return "";
  const all = await attentionAt(place, state);
  // What is no halt but a fault is not lifted by a resume either.
  const ofRun = all.filter(({ task, reason }) => task === "" && reason !== "fault");
  return ofRun.map(({ note }) => note).join(" ");
}

/** Starting a worker: only what `minion next` named, and with no word more than that. */
function foremanDispatch(prompt: string, found: Found | null): ToolAnswer {
  if (!found || !isActive(found.attempt) || found.state.aborted)
    return deny("No open run dispatched that: run minion next and start what it names.");
  const named = promptFor(found.attempt.id);
  if (prompt.trim() === named) return allow("dispatched by minion next");
  return deny(
    `Its prompt is exactly «${named}»: what else workers are to know stands in the task list.`,
  );
}

/** Writing a task list: to the session's own folder for it, outside of the repository. */
export async function foremanWrite(path: string, session: string): Promise<ToolAnswer> {
  const [, folder, name = ""] = /^\/tmp\/(minion-[\w-]+)\/([\w.-]+\.md)$/.exec(path) ?? [];
  if (folder !== `minion-${session}`) return null;
  const isThere = (await realTarget(path)) === join(await realTarget("/tmp"), folder, name);
  return isThere ? allow("a task list") : null;
}
