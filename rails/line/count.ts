import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { checksOf, TIMEOUT } from "../journal/checks.ts";
import { listsDue, wholesDue } from "../journal/made.ts";
import { howIn, isPass } from "../journal/passed.ts";
import { changedEvent, heldIn } from "../journal/replan.ts";
import type { AttemptState, RunState, TaskState } from "../journal/state.ts";
import { bestOf, candidatesAt, pickDue } from "../journal/variants.ts";
import { changeTo } from "../plan/change.ts";
import { commandIn, linesIn, listedTasks, MOST_LISTED, numberIn } from "../plan/each.ts";
import { type Landing, proveHere, putBack, redNow } from "./landing.ts";

// What the rails do with commands, and no worker: choose among variants by a number, list what a
// task is made of, and check the whole of it.

/** Is there something of that kind to do? */
export const isCounting = (state: RunState): boolean =>
  picksDue(state).length > 0 || listsDue(state).length > 0 || wholesDue(state).length > 0;

const picksDue = ({ tasks }: RunState): TaskState[] =>
  [...tasks.values()].filter((task) => pickDue(task) !== null);

/** Does the next of it. */
export async function count(landing: Landing, state: RunState): Promise<void> {
  const [list] = listsDue(state);
  if (list) return listParts(landing, state, list);
  const [whole] = wholesDue(state);
  if (whole) return checkWhole(landing, state, whole);
  const [pick] = picksDue(state);
  if (pick) await choose(landing, state, pick);
}

/** Runs the `Each:` of a task on the line, and makes a task of each line that it prints. Many such
 * commands, as grep, end with 1 where they found nothing. */
async function listParts({ journal, site }: Landing, state: RunState, task: TaskState) {
  await site.reset(state.tip);
  const command = { run: task.each ?? "", cwd: state.prefix, timeout: TIMEOUT };
  const at = { journal, state };
  const { text, code, isFailed, output } = await site.printed(
    at,
    `each-${task.id.replaceAll("/", "-")}`,
    command,
  );
  const { lines, leftOut } = linesIn(text);
  const note =
    isFailed || (code !== 0 && code !== 1)
      ? `Its command ${howIn({ code, untested: false })}${isFailed ? " and said why on standard error" : ""}: ${output}.`
      : lines.length > MOST_LISTED
        ? `Its command printed ${lines.length} lines, where ${MOST_LISTED} may be: ${output}.`
        : null;
  await journal.decide((now, write) => {
    const open = now.tasks.get(task.id);
    if (!open || open.isListed || open.isDropped || open.each !== task.each) return;
    if (note !== null) return write({ event: "not-listed", task: task.id, note });
    const parts = listedTasks(open.planned, lines);
    const change = changeTo(heldIn(now), [], parts);
    const fresh = change.all.filter(({ id }) => change.added.includes(id));
    write(changedEvent(now, change, fresh, { listed: task.id, leftOut }));
  });
}

/** Runs the `Verify:` of a task that is made of others, on the line as they left it. */
async function checkWhole(landing: Landing, state: RunState, task: TaskState): Promise<void> {
  const { journal, site } = landing;
  const red: string[] = [];
  for (const command of checksOf(state, task)) {
    await site.reset(state.tip);
    const said = await redNow(landing, [], await site.tip(), command);
    if (said !== null) red.push(said);
  }
  const event = { event: "whole-checked", task: task.id, tip: state.tip } as const;
  await journal.decide(({ tasks }, write) => {
    // Else it is checked once more, by what is to show it now.
    if (isDeepStrictEqual(tasks.get(task.id)?.checks, task.checks))
      write({ ...event, red: red.length > 0 ? red.join(" ") : null });
  });
}

/** Picks among the variants of a task: the only one, or the best by what `Measure:` says of each,
 * one after another, on its own files. */
async function choose(landing: Landing, state: RunState, task: TaskState): Promise<void> {
  const phase = pickDue(task);
  if (!phase) return;
  const all = candidatesAt(task, phase);
  const { measure } = task;
  const [next] = measure && all.length > 1 ? all.filter(({ measured }) => !measured) : [];
  if (next) return measureOne(landing, state, next);
  const best = all.length > 1 ? bestOf(all, measure ?? "") : all[0];
  const by = all.length > 1 ? "measure" : "only";
  if (best) await landing.journal.add({ event: "picked", task: task.id, attempt: best.id, by });
}

/** Runs the command of `Measure:` on the files of a variant, and takes down the last number that it
 * prints; none where it fails. */
async function measureOne(
  landing: Landing,
  state: RunState,
  { id, submitted, task }: AttemptState,
): Promise<void> {
  const { journal, site } = landing;
  await site.reset(submitted?.head ?? state.tip);
  const tip = await site.tip();
  if (state.setup) await proveHere(landing, [id], state.setup);
  const run = commandIn(task.measure ?? "");
  const command = { name: "measure", run, cwd: state.prefix, timeout: TIMEOUT, isCheck: true };
  const ran = await proveHere(landing, [id], command);
  await putBack(landing, tip);
  const text = await readFile(join(journal.folder, ran.output), "utf8");
  const value = isPass(ran) ? numberIn(text) : null;
  await journal.decide(({ tasks }, write) => {
    if (tasks.get(task.id)?.measure === task.measure)
      write({ event: "measured", attempt: id, value, output: ran.output });
  });
}
