import { findPlace } from "../git/repository.ts";
import { Journal } from "../journal/journal.ts";
import { landAll } from "../line/land.ts";
import { buildMerge } from "../line/merge.ts";
import { siteOf } from "../line/site.ts";
import { EXIT } from "../program/fault.ts";
import type { Verb } from "../program/verb.ts";
import type { World } from "../program/world.ts";
import { runJob } from "../proof/jobs.ts";
import { ownAttempt } from "../worker/attempt.ts";
import { runSetup } from "../worker/begin.ts";
import { runGateJob } from "../worker/gate.ts";
import { notifyAll } from "./notify.ts";

/** Work that outlives the call that asked for it. A job's name is how it is called: `land RUN`,
 * `merge RUN BRANCH COMMIT`, `notify RUN`, or in a worker's worktree `setup ATTEMPT` or
 * `gate ATTEMPT NAME`. */
export const verb: Verb = {
  usage: "job <words...>",
  about: "do what a call of another verb asked for",
  isHidden: true,
  async run({ words }, world) {
    const { journal, work } = await jobOf(words, world);
    const isDone = await runJob(journal, words.join(" "), work);
    return { text: "", data: {}, exit: isDone ? EXIT.done : EXIT.running };
  },
};

type Job = Readonly<{ journal: Journal; work: () => Promise<unknown> }>;

async function jobOf([what, whose = "", ...rest]: readonly string[], world: World): Promise<Job> {
  if (what === "land" || what === "merge" || what === "notify") {
    const place = await findPlace(world.cwd);
    const journal = new Journal(place.common, whose);
    if (what === "notify") return { journal, work: () => notifyAll(journal, place) };
    const { run, line } = await journal.state();
    if (what === "land") return { journal, work: () => landAll(journal, siteOf(place, run, line)) };
    const [branch = "", commit = ""] = rest;
    const site = siteOf(place, run, line, "merge");
    return { journal, work: () => buildMerge(journal, site, branch, commit) };
  }
  const own = await ownAttempt(world.cwd);
  const [name = ""] = rest;
  const work = () => (what === "gate" ? runGateJob(own, name) : runSetup(own));
  return { journal: own.journal, work };
}
