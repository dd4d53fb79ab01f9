import { Option } from "commander";
import { withParts } from "../journal/family.ts";
import { runToChange } from "../journal/run-at.ts";
import { activeOf, type RunState, type TaskState } from "../journal/state.ts";
import { Fault } from "../program/fault.ts";
import { isAlive } from "../program/process.ts";
import { type OfRun, RUN, type Verb } from "../program/verb.ts";

type Options = OfRun & { message?: string };

export const verb: Verb<Options> = {
  usage: "stop <task>",
  about: "nobody works at a task before a person says so; its work is kept",
  options: [new Option("-m, --message <question>", "the question that it waits for"), RUN],
  async run({ words: [id = ""], options }, world) {
    const { journal } = await runToChange(world, `stop ${id}`, options.run);
    const question = (options.message ?? "").trim();
    const { ended, jobs, run } = await journal.decide((state, write) => {
      const task = taskToStop(state, id);
      const active = activeOf(task).map((each) => each.id);
      const note = question || "It was stopped.";
      for (const attempt of active) write({ event: "ended", attempt, reason: "stopped", note });
      write({ event: "stopped", task: id, question });
      const parts = withParts(state, [id]).filter((part) => part !== id);
      const inside = parts.flatMap((part) => activeOf(state.tasks.get(part) ?? { attempts: [] }));
      for (const { id: attempt } of inside)
        write({ event: "ended", attempt, reason: "changed", note: `Task ${id} was stopped.` });
      const ended = [...active, ...inside.map((each) => each.id)];
      return { ended, jobs: [...state.jobs.values()], run: state.run };
    });
    // A gate of the worker's that still runs would only be in the way of others.
    for (const { attempt, process: job } of jobs)
      if (attempt && ended.includes(attempt) && (await isAlive(job)))
        process.kill(job.pid, "SIGTERM");
    const way = `minion retry ${id} --run ${run}`;
    const frees = question ? `${way} -m "the answer"` : way;
    return {
      text: `task ${id} is stopped: ${frees} frees it`,
      data: { task: id, ended: ended[0] ?? null },
    };
  },
};

/** The task that is to be stopped. @throws Fault where it is over */
function taskToStop({ tasks, run, aborted }: RunState, id: string): TaskState {
  const task = tasks.get(id);
  if (!task) {
    const known = [...tasks.keys()].join(", ");
    throw new Fault("no-task", `run ${run} has no task ${id}`, `it has ${known}`);
  }
  if (aborted) throw new Fault("aborted", `run ${run} was aborted`, "nothing of it is at work");
  if (["landed", "skipped", "dropped"].includes(task.state)) {
    const way = task.state === "landed" ? `minion drop ${id} takes it back` : "nobody works at it";
    throw new Fault("over", `task ${id} is ${task.state}`, way);
  }
  return task;
}
