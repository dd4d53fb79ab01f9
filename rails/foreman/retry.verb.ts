import { runToChange } from "../journal/run-at.ts";
import { Fault } from "../program/fault.ts";
import { type OfRun, RUN, type Verb } from "../program/verb.ts";

export const verb: Verb<OfRun> = {
  usage: "retry <task>",
  about: "for a person: let a worker try a task again",
  options: [RUN],
  async run({ words: [task = ""], options }, world) {
    const { journal } = await runToChange(world, `retry ${task}`, options.run);
    await journal.decide(({ tasks }, write) => {
      const what = `task ${task} does not wait for a person`;
      if (tasks.get(task)?.state !== "needs-human")
        throw new Fault("not-waiting", what, "minion attention shows what does");
      write({ event: "retried", task });
    });
    const text = `task ${task} may be tried again: /minion --resume goes on with the run`;
    return { text, data: { task } };
  },
};
