import { readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Consent, newRails } from "../blueprint/agreed.ts";
import { changeFrom } from "../foreman/change.ts";
import { promptFor } from "../foreman/dispatch.ts";
import { attentionAt } from "../foreman/look.ts";
import { railsNow } from "../foreman/rails.ts";
import { isUnfinished } from "../foreman/resume.ts";
import type { Place } from "../git/repository.ts";
import { findRun } from "../journal/journal.ts";
import { isActive, type RunState, type TaskState } from "../journal/state.ts";
import { isStream } from "../program/files.ts";
import { isAlive } from "../program/process.ts";
import { outside } from "../program/world.ts";
import type { Found } from "../worker/attempt.ts";
import { allow, ask, deny, type HookInput, type ToolAnswer } from "./answer.ts";
import { type Call, callsIn, hereDocIn, isUnsaid, supposed, wordsOf } from "./command.ts";
import { newOfList, newOfTasks } from "./list-commands.ts";
import { type MinionCall, minionCall } from "./minion-call.ts";
import { realTarget } from "./real-target.ts";

/** Why nothing starts in plan mode, and what does work there. */
const DRY = "plan mode is a dry run: minion plan shows the plan";

const PERSON = ask("this is a person's decision");
const EACH = ask("it runs the commands that the list has under Each:, in this checkout");
const UNCLEAR = ask("it cannot be seen what this does");

const NEW_RAILS =
  "This project's own rails are new here, or have changed. " +
  "They would run (minion blueprint --agree remembers a yes).";
const NEW_COMMANDS = "The list brings commands of its own, which landing would run.";
const UNSEEN = ask("its list cannot be seen before this starts: write it first, then start it");

/** A tool call of the session itself: what a run needs goes without asking.
 * @param place the repository that it is in, if it is in one
 * @param found the attempt that its prompt names, if it names one */
export async function foremanTool(
  input: HookInput,
  place: Place | null,
  found: Found | null,
): Promise<ToolAnswer> {
  const { tool_name: tool, tool_input: args = {}, session_id: session = "" } = input;
  const cwd = input.cwd ?? outside().cwd;
  const isDry = input.permission_mode === "plan";
  if (tool === "Write") return foremanWrite(String(args.file_path), session);
  if (tool === "Bash") return foremanBash(String(args.command), { isDry, place, session, cwd });
  if (tool !== "Agent" || !String(args.subagent_type).startsWith("minion:")) return null;
  if (isDry) return deny(DRY);
  return foremanDispatch(String(args.prompt), found);
}

/** Where a command of the foreman is called. */
type Scene = Readonly<{ isDry: boolean; place: Place | null; session: string; cwd: string }>;

/** What a call is given by the line in which it stands: its folder, what a here-document says, and
 * whether there is nothing else in it. */
type Given = Readonly<{ cwd: string; input: string | null; isPlain: boolean }>;

/** A shell text: the first call of `minion` in it that does not go without asking decides. */
async function foremanBash(text: string, scene: Scene): Promise<ToolAnswer> {
  const calls = callsIn(text);
  const ours = calls.filter(({ program }) => program === "minion");
  const isPlain = wordsOf(text)?.[0] === "minion";
  const input = hereDocIn(text);
  const answers = await Promise.all(
    ours.map(({ args, folder }) =>
      foremanCommand(args, { ...scene, cwd: resolve(scene.cwd, folder), input, isPlain }),
    ),
  );
  const barred = answers.find((answer) => answer !== null && answer.decision !== "allow");
  if (barred) return barred;
  if (namesUs(text) && calls.some(mayDecide)) return UNCLEAR;
  // What a command does beside that is for the person's own settings.
  return isPlain ? (answers[0] ?? null) : null;
}

/** Does a line name us at all, however it is quoted? */
const namesUs = (text: string): boolean => /minion/i.test(text.replace(/["'\\]/g, ""));

/** Might a call that hides which program it starts be what a person decides? */
const mayDecide = (call: Call): boolean =>
  isUnsaid(call) ||
  supposed(call).some(
    ({ program, args }) => program === "minion" && minionCall(args).kind === "person",
  );

/** What a hook says to `minion` with these words. */
async function foremanCommand(
  args: readonly string[],
  { isDry, place, session, ...given }: Scene & Given,
): Promise<ToolAnswer> {
  const call = minionCall(args);
  const { kind, verb, run, file = "" } = call;
  if (kind === "look") return allow("it only looks");
  if (kind === null) return null;
  if (isDry && DRIVES.includes(verb)) return deny(DRY);
  if (kind === "unclear") return UNCLEAR;
  if (verb === "resume" && place) {
    const halt = await haltIn(place, session, run);
    if (halt) return ask(`The run stands still until a person has seen why: ${halt}`);
  }
  if (call.options.has("--each")) return EACH;
  if (kind === "person") return PERSON;
  if (["change", "drop"].includes(verb) && place) {
    const own = await findRun(place.common, session, run).catch(() => null);
    const decision = own && (await decisionIn(own.state, place, call, given));
    if (decision) return decision;
  }
  if (verb === "start" && place) {
    const consent = await consentFor(place, file, given);
    if (consent) return consent;
  }
  return allow("a command of the foreman");
}

/** The verbs that drive a run. */
const DRIVES = ["start", "next", "resume", "change", "stop", "drop"];

/** What of a change of the plan is a person's to decide: to loosen what a task is held to, to take
 * other rails, to add more than a session may, to drop what others want. Null where nothing is. */
async function decisionIn(
  state: RunState,
  place: Place,
  { verb, words, file = "", options }: MinionCall,
  { cwd, input, isPlain }: Given,
): Promise<ToolAnswer> {
  if (verb === "drop") {
    const ids = words.flatMap((each) => each.split(","));
    const own = ids.every((id) => isOwnAndNew(state.tasks.get(id)));
    return own ? null : PERSON;
  }
  if (options.has("--rails")) {
    const now = await railsNow(state, place).catch(() => null);
    return now && ask(`The run would go on with other rails:\n${now.changed.join("\n")}`);
  }
  if (options.has("--undo")) {
    const last = state.changes.at(-1)?.event;
    return last && (last.session === "" || last.loosened.length > 0) ? PERSON : null;
  }
  const seen = await listSeen(file, { cwd, input, isPlain });
  if (seen !== "whole") return seen === "none" ? null : UNSEEN;
  const text = file === "-" ? input : await readFile(resolve(cwd, file), "utf8").catch(() => "");
  // What cannot be done changes nothing, and says why.
  const changed = await changeFrom(text ?? "", "the list", place, state).catch(() => null);
  const loosened = changed?.event.loosened ?? [];
  const commands = changed && (await newOfTasks(changed.event.tasks, state, place));
  if (loosened.length === 0 && !commands) return null;
  const what = [
    ...(loosened.length > 0 ? [`This is a person's decision: ${loosened.join("; ")}`] : []),
    ...(commands ? [`${NEW_COMMANDS} ${commands.text}`] : []),
  ];
  return ask(what.join("\n\n"));
}

/** Did the session itself add a task at which nobody has worked? */
const isOwnAndNew = (task: TaskState | undefined): boolean =>
  task?.added === "session" && task.attempts.every(({ begun }) => !begun);

/** What a person is asked before a run starts: the commands that the project's rails and the list
 * bring, where they were not seen before. */
async function consentFor(
  place: Place,
  file: string,
  { cwd, input, isPlain }: Given,
): Promise<ToolAnswer> {
  const rails = await newRails(place.top, place.common);
  if ((await listSeen(file, { cwd, input, isPlain })) === "hidden") return UNSEEN;
  // What cannot be planned does not start either, and says why.
  const ofList = await newOfList(file, cwd, input ?? "").catch(() => null);
  return rails || ofList ? shownFor(rails, ofList) : null;
}

const shownFor = (rails: Consent | null, ofList: Consent | null): ToolAnswer =>
  ask(
    [
      ...(ofList ? [`${NEW_COMMANDS} ${ofList.text}`] : []),
      ...(rails ? [`${NEW_RAILS} ${rails.text}`] : []),
    ].join("\n\n"),
  );

/** What can be seen of a list before `minion` reads it: the whole; none, where it is not there and
 * nothing else in the line may be about to write it; or it is hidden, as what only the call itself
 * can read: `/dev/stdin`, a pipe. */
async function listSeen(
  file: string,
  { cwd, input, isPlain }: Given,
): Promise<"whole" | "none" | "hidden"> {
  if (file === "-") return input === null ? "hidden" : "whole";
  const path = resolve(cwd, file);
  const found = isStream(path) ? null : await stat(path).catch(() => undefined);
  if (found === undefined) return isPlain ? "none" : "hidden";
  return found?.isFile() ? "whole" : "hidden";
}

/** Why the run that a resume is about stands still (an alarm, a spent budget), where the session
 * that leads it is still there: that session must not lift its own pause. Empty where a resume only
 * goes on with what was lost. */
async function haltIn(place: Place, session: string, name?: string): Promise<string> {
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
  if (found.attempt.launches.length > 0)
    return deny(`${found.attempt.id} has its worker already: there is nothing to start for it.`);
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
