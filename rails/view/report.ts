import { join } from "node:path";
import { matches } from "../plan/conflicts.ts";
import { attentionOf, typed } from "../record/attention.ts";
import type { RunState, TaskState } from "../record/state.ts";
import { clock } from "./board.ts";

/** The page that a person gets at the end: what landed, what did not and why, the raw evidence, what to type next. */
export function reportText(state: RunState, folder: string): string {
  const all = [...state.tasks.values()];
  const landed = all.filter(({ state: now }) => now === "landed");
  const rest = all.filter(({ state: now }) => now !== "landed");
  const sections = [
    `# Run ${state.run}: ${landed.length} of ${all.length} landed\n\n${summary(state)}`,
    landed.length > 0 ? `## Landed\n\n${landed.map((task) => landedText(state, task, folder)).join("\n")}` : "",
    rest.length > 0 ? `## Not landed\n\n${rest.map(restText).join("\n")}` : "",
    attentionText(state),
    findingsText(all),
    landed.some(({ attempts }) => attempts.length > 0) ? commandsText(state) : "",
    state.bad.length > 0
      ? `## Journal\n\nLines that could not be read: ${state.bad.map(({ line }) => line).join(", ")}.`
      : "",
  ];
  return `${sections.filter(Boolean).join("\n\n")}\n`;
}

function summary(state: RunState): string {
  const took = clock(Math.round((state.lastAt - state.startedAt) / 1000));
  const over = state.aborted ? "It was aborted" : state.done ? "It is done" : "It is still under way";
  const green = state.landings.length > 0 ? ` Gates passed on its tip by landing's own run: ${names(state)}.` : "";
  return `${over}; it took ${took}. Line \`${state.line}\` stands on \`${state.tip.slice(0, 10)}\`, from base \`${state.base.slice(0, 10)}\`.${green}`;
}

const names = (state: RunState): string => state.gates.map(({ name, run }) => `${name} (\`${run}\`)`).join(", ");

function landedText(state: RunState, { task, attempts }: TaskState, folder: string): string {
  const last = attempts.at(-1);
  const landing = state.landings.find((each) => last && each.attempts.includes(last.id));
  if (!last || !landing) return `- **${task.id} ${task.title}**: was done before the run.`;
  const proof = state.evidence.filter(
    ({ by, attempts: ids, code }) => by === "landing" && ids.includes(last.id) && code === 0,
  );
  const outside = outsideFiles(
    task.files.map(({ path }) => path),
    last.submitted?.paths ?? [],
  );
  const raw = proof.map(({ output }) => `\`${join(folder, output)}\``).join(", ");
  return [
    `- **${task.id} ${task.title}**: on the line at \`${landing.to.slice(0, 10)}\`, ${attempts.length === 1 ? "first attempt" : `attempt ${attempts.length}`}.`,
    ...(raw ? [`  Evidence: ${raw}`] : []),
    ...(outside.length > 0 ? [`  Named in no file list: ${outside.join(", ")}`] : []),
  ].join("\n");
}

/** Files that a result touches though its task named others; nothing where the task named none. */
function outsideFiles(named: readonly string[], touched: readonly string[]): string[] {
  return named.length === 0 ? [] : touched.filter((path) => !named.some((each) => matches(each, path)));
}

function restText({ task, state, reason, note, attempts }: TaskState): string {
  const branch = attempts.findLast(({ begun }) => begun)?.begun?.branch;
  const why = [reason === "dependency" ? "what it depends on did not land" : reason, note].filter(Boolean).join(": ");
  return `- **${task.id} ${task.title}**: ${state}${why ? `. ${why}` : ""}${branch ? ` What there is: \`${branch}\`.` : ""}`;
}

function attentionText(state: RunState): string {
  const open = attentionOf(state);
  if (open.length === 0) return "";
  const lines = open.flatMap(({ task, choices }) =>
    choices.map(({ label, command }) => `- ${task}, ${label}: \`${command}\``),
  );
  return `## Yours to decide\n\n${lines.join("\n")}`;
}

function findingsText(all: readonly TaskState[]): string {
  const handoffs = all.flatMap(({ task, attempts }) => {
    const handoff = attempts.at(-1)?.submitted?.handoff;
    return handoff ? [`### ${task.id} ${task.title}\n\n${handoff}`] : [];
  });
  return handoffs.length > 0 ? `## Handoffs\n\n${handoffs.join("\n\n")}` : "";
}

function commandsText({ line, base, run }: RunState): string {
  return [
    "## What next",
    "",
    "Nothing was merged or pushed: that is yours.",
    "",
    "```sh",
    `git log --oneline ${base.slice(0, 10)}..${line}   # look at it`,
    `git merge --ff-only ${line}   # merge it into the branch that you are on`,
    `git push -u origin ${line}   # or push it`,
    `gh pr create --head ${line}   # and open the pull request`,
    `${typed(`clean --run ${run}`)}   # afterwards: remove what the run left`,
    "```",
  ].join("\n");
}
