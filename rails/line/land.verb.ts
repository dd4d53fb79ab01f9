import { runToChange } from "../journal/run-at.ts";
import { isDispatchable, type RunState } from "../journal/state.ts";
import { Fault } from "../program/fault.ts";
import {
  type OfRun,
  RUN,
  stillRuns,
  untilOf,
  type Verb,
  WAIT,
  type Waiting,
} from "../program/verb.ts";
import { takeByHand } from "./by-hand.ts";
import { landed } from "./land.ts";

/** What goes on with a run that stood still: nobody else starts what can be started now. */
function onward(state: RunState): string {
  const ready = [...state.tasks.values()].filter(isDispatchable).map(({ id }) => id);
  if (ready.length === 0) return "";
  const tasks = ready.length > 1 ? "tasks" : "task";
  return `\n/minion --resume goes on with the run: ${tasks} ${ready.join(", ")} can start now`;
}

export const verb: Verb<OfRun & Waiting> = {
  usage: "land <task>",
  about: "for a person: prove and land a task's branch, or that of one attempt (r1/4.2)",
  options: [WAIT, RUN],
  async run({ words: [task = ""], options }, world) {
    const until = untilOf(options, world);
    const { journal, place, state } = await runToChange(world, `land ${task}`, options.run);
    const taken = await takeByHand(journal, place, task);
    if (!(await landed(journal, place, state, until))) return stillRuns("It");
    const now = await journal.state();
    // An attempt may be meant by its own name, as one of several variants.
    const after = now.attempts.get(task)?.task ?? now.tasks.get(task);
    if (after?.state === "landed")
      return {
        text: [`task ${task} is on ${state.line}${onward(now)}`, ...fromText(taken)].join("\n"),
        data: { task, landed: true, ...taken },
      };
    const what = `${after?.reason}: ${after?.note}`;
    throw new Fault("not-landed", what, "mend its branch, then call again");
  },
};

/** From which branch something was taken, where there are several. */
const fromText = (taken: Awaited<ReturnType<typeof takeByHand>>): string[] =>
  taken && taken.without.length > 0
    ? [`It is from ${taken.branch}; ${taken.without.join(", ")}`]
    : [];
