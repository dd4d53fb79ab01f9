import { Option } from "commander";
import { runAt } from "../journal/run-at.ts";
import { landingPath } from "../line/site.ts";
import { oneLine } from "../program/shown.ts";
import { type OfRun, RUN, type Verb } from "../program/verb.ts";
import { clean } from "./clean.ts";

export const verb: Verb<OfRun & { dryRun?: true; variants?: true }> = {
  usage: "clean",
  about: "remove what a run left; nothing dirty or unlanded",
  options: [
    new Option("--dry-run", "only say what would be removed"),
    new Option("--variants", "also remove the branches of variants that were not picked"),
    RUN,
  ],
  async run({ options }, world) {
    const { place, state } = await runAt(world, options.run);
    const { run } = state;
    const dryRun = options.dryRun === true;
    const own = (["landing", "merge"] as const).map((job) => landingPath(place, run, job));
    const done = await clean(state, place, own, {
      isDryRun: dryRun,
      isWithVariants: options.variants === true,
    });
    return { text: cleanText(done, dryRun), data: { run, dryRun, ...done } };
  },
};

/** What went and what stays, a line each. */
function cleanText({ remove, keep }: Awaited<ReturnType<typeof clean>>, isDryRun: boolean): string {
  const deed = isDryRun ? "would remove" : "removed";
  const lines = [
    ...remove.map((name) => `${deed} ${oneLine(name)}`),
    ...keep.map(({ name, why }) => `kept ${oneLine(name)}: ${oneLine(why)}`),
  ];
  return lines.join("\n") || "There is nothing to remove.";
}
