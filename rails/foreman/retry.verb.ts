import { Option } from "commander";
import { runToChange } from "../journal/run-at.ts";
import { isOpen, type RunState, type TaskState } from "../journal/state.ts";
import { parentOf } from "../plan/task.ts";
import { Fault } from "../program/fault.ts";
import { type OfRun, RUN, type Verb } from "../program/verb.ts";
import { attentionAt } from "./look.ts";
import { isWaitedFor } from "./wait.ts";

type Worded = { message?: string };
const WORDS = new Option("-m, --message <words>", "what whoever goes on is to know");

export const verb: Verb<OfRun & Worded> = {
  usage: "retry <task>",
  about: "for a person: let a worker try a task again, or begin one that waits or was dropped",
  options: [WORDS, RUN],
  async run({ words: [id = ""], options }, world) {
    const { journal, place } = await runToChange(world, `retry ${id}`, options.run);
    await journal.decide((state, write) => {
      const task = waitingTask(state, id);
      const words = (options.message ?? "").trim();
      // What was handed in is not what the person wants: it is done anew, and not looked at again.
      const reason = task.reason === "high-risk" || (words && isAllDone(task)) ? task.reason : null;
      if (reason && task.result) {
        const note = "A person wants another try.";
        write({ event: "not-landed", attempt: task.result.id, reason, note });
      }
      write({ event: "retried", task: id, words });
    });
    const state = await journal.state();
    const [halt] = (await attentionAt(place, state)).filter(({ task }) => task === "");
    const [onward] = halt?.choices ?? [];
    const way = onward
      ? `${halt?.note} ${onward.command}`
      : (await isWaitedFor(state))
        ? "its session goes on with it"
        : "/minion --resume goes on with the run";
    const once = onward ? ", once the run goes on" : "";
    return { text: `task ${id} may be tried again${once}: ${way}`, data: { task: id } };
  },
};

/** Would a task land as it was handed in? Nobody would read what a person says of it then. */
const isAllDone = ({ phase, result, isDropped }: TaskState): boolean =>
  phase === null && result !== undefined && !result.over && !isDropped;

/** The task that waits for a person's word for another try.
 * @throws Fault that says what would help where that changes nothing */
function waitingTask(state: RunState, id: string): TaskState {
  const { tasks, run, aborted } = state;
  const task = tasks.get(id);
  if (!task) {
    const known = [...tasks.keys()].join(", ");
    throw new Fault("no-task", `run ${run} has no task ${id}`, `it has ${known}`);
  }
  if (aborted) throw new Fault("aborted", `run ${run} was aborted`, "start a new one");
  if (task.reason === "base-red") {
    const way = `mend the base and start anew, or minion resume --run ${run} --red-base`;
    throw new Fault("base-red", `task ${id} waits for the base and not for a worker`, way);
  }
  if (task.isDropped) return anew(task, tasks);
  if (task.state === "needs-human") return task;
  const way = isOpen(state) ? `minion next --run ${run} goes on` : `see minion report --run ${run}`;
  const hint = task.state === "blocked" ? blockedBy(state, task) : way;
  const what = `task ${id} is ${task.state} and does not wait for a person`;
  throw new Fault("not-waiting", what, hint);
}

/** A dropped task that can be started anew. @throws Fault where what it depends on, or is part of,
 * was dropped too */
function anew(task: TaskState, tasks: RunState["tasks"]): TaskState {
  const above = parentOf(task.id) ?? "";
  const gone = [above, ...task.depends].filter((id) => tasks.get(id)?.isDropped);
  if (gone.length === 0) return task;
  const what = `task ${task.id} needs ${gone.join(", ")}, dropped as well`;
  throw new Fault("dropped", what, `minion retry ${gone[0]} first`);
}

/** What to do for a task that waits for others which cannot land. */
const blockedBy = ({ tasks, run }: RunState, { depends }: TaskState): string => {
  const open = depends.filter((id) => tasks.get(id)?.state !== "landed").join(", ");
  return `it waits for ${open}: minion attention --run ${run} shows the choices`;
};
