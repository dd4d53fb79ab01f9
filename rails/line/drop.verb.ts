import { plannerIn } from "../journal/marker.ts";
import { runToChange } from "../journal/run-at.ts";
import { EXIT, Fault } from "../program/fault.ts";
import {
  type OfRun,
  RUN,
  stillRuns,
  untilOf,
  type Verb,
  WAIT,
  type Waiting,
} from "../program/verb.ts";
import { drop, leaveOut } from "./drop.ts";

export const verb: Verb<OfRun & Waiting> = {
  usage: "drop <tasks...>",
  about: "for a person: leave tasks undone; what landed of them is taken back",
  options: [WAIT, RUN],
  async run({ words, options }, world) {
    const ids = words.flatMap((word) => word.split(",")).filter(Boolean);
    if (ids.length === 0)
      throw new Fault("usage", "drop names no task", "say which: minion drop 4 2", EXIT.usage);
    const at = await runToChange(world, `drop ${ids.join(" ")}`, options.run);
    const planner = await plannerIn(at.place, at.state);
    if (planner) await leaveOut(at, planner, ids);
    else if (!(await drop(at, ids, untilOf(options, world)))) return stillRuns("It");
    const text = `${ids.join(", ")} dropped: minion retry ID starts one anew`;
    return { text, data: { dropped: ids } };
  },
};
