import { basename, resolve } from "node:path";
import { Option } from "commander";
import { agree, newCommands } from "../blueprint/agreed.ts";
import type { Place } from "../git/repository.ts";
import { attemptOf } from "../journal/marker.ts";
import { runToChange } from "../journal/run-at.ts";
import { EXIT, Fault } from "../program/fault.ts";
import { readNamed } from "../program/files.ts";
import { type OfRun, RUN, type Verb } from "../program/verb.ts";
import { type Own, ownAttempt } from "../worker/attempt.ts";
import { refuseOver } from "../worker/hand-in.ts";
import { type Changed, changeFrom, keepReadable, undoneIn, writeChange } from "./change.ts";
import { broughtBy } from "./planned.ts";
import { refuseWorker } from "./planner.ts";
import { takeRails } from "./rails.ts";

type Options = OfRun & { rails?: true; undo?: true };

export const verb: Verb<Options> = {
  usage: "change [file]",
  about: "change the plan of a run: add tasks, or reword some (- reads standard input)",
  options: [
    new Option("--undo", "take the last change back, as long as nothing of it has begun"),
    new Option("--rails", "for a person: take the rails of the project as they are now"),
    RUN,
  ],
  async run({ words: [file], options }, world) {
    const asked = [file, options.undo, options.rails].filter(Boolean).length;
    if (asked !== 1) {
      const what = asked === 0 ? "change wants a list" : "change does one thing at a time";
      const hint = "minion change FILE, minion change -, or one of --undo and --rails";
      throw new Fault("usage", what, hint, EXIT.usage);
    }
    const at = await runToChange(world, "change", options.run);
    const own = await workerAt(at.place);
    const { journal, place } = own ?? at;
    if (own && (options.rails || options.undo)) refuseWorker(own.attempt.id);
    if (options.rails) {
      const taken = await takeRails(journal, place);
      return { text: railsText(taken), data: taken };
    }
    const text =
      file === "-" ? await world.input() : file && (await readNamed(resolve(world.cwd, file)));
    const where = file === "-" ? "the list" : basename(file ?? "");
    const changed = await writeChange(journal, (state) => {
      const planner = own && (state.attempts.get(own.attempt.id) ?? null);
      if (planner) refuseOver(state, planner.id);
      return options.undo ? undoneIn(state) : changeFrom(text ?? "", where, place, state, planner);
    });
    await keepReadable(journal, own ? null : (text ?? null));
    if (own) return { text: changeText(changed), data: dataOf(changed) };
    // Whoever changes it has seen its commands: a person by their own hand, a session by the hook.
    const brought = broughtBy({ toolsSaid: {}, tasks: changed.event.tasks }, { commands: [] });
    await agree(await newCommands(brought, place.common), place.common);
    return { text: changeText(changed), data: dataOf(changed) };
  },
};

/** The planner whose worktree this is; null where nobody works. @throws Fault `not-yours` for a
 * worker that plans nothing */
async function workerAt(place: Place): Promise<Own | null> {
  if ((await attemptOf(place)) === null) return null;
  const own = await ownAttempt(place.top);
  return own.attempt.phase.tasks === undefined ? refuseWorker(own.attempt.id) : own;
}

const dataOf = ({ added, reworded, event, findings }: Changed) => {
  return { added, changed: reworded, removed: event.removed, loosened: event.loosened, findings };
};

/** What changed, a line each. */
function changeText({ added, reworded, event, findings }: Changed): string {
  const said = (what: string, ids: readonly string[]) =>
    ids.length > 0 ? [`${what} ${ids.join(", ")}`] : [];
  return [
    ...said("added", added),
    ...said("changed", reworded),
    ...said("removed", event.removed),
    ...event.loosened.map((what) => `by a person's word: ${what}`),
    ...findings.map(({ level, message, hint }) => `${level}: ${message}${hint && `: ${hint}`}`),
  ].join("\n");
}

const railsText = ({ changed }: Awaited<ReturnType<typeof takeRails>>): string =>
  changed.length === 0
    ? "The rails of the run are those of the project already."
    : ["The run goes on with the rails of the project:", ...changed].join("\n");
