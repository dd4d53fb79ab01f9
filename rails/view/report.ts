import { basename, join } from "node:path";
import { matches } from "../plan/conflicts.ts";
import { attentionOf, typed } from "../record/attention.ts";
import type { RunState, TaskState } from "../record/state.ts";
import { clock } from "./board.ts";

/**
 * The page that a person gets at the end: what landed, what did not and why, the raw evidence, what to type next.
 * @param folder the run's, where raw output lies
 */
export function reportText(state: RunState, folder: string): string {
  const all = [...state.tasks.values()];
  const landed = all.filter((task) => task.state === "landed");
  const rest = all.filter((task) => task.state !== "landed");
  const choices = attentionOf(state).flatMap(({ task, choices: each }) =>
    each.map(({ label, command }) => `- ${task}, ${label}: \`${command}\``),
  );
  const handoffs = all.flatMap(({ task, attempts }) => {
    const handoff = attempts.at(-1)?.submitted?.handoff;
    return handoff ? [`### ${task.id} ${task.title}\n\n${handoff}\n`] : [];
  });
  const bad = state.bad.map(({ line }) => `- line ${line} could not be read and was passed over`);
  const sections = [
    `# Run ${state.run}: ${landed.length} of ${all.length} landed\n\n${summary(state)}\n`,
    section(
      "Landed",
      landed.map((task) => landedText(state, task)),
    ),
    section("Not landed", rest.map(restText)),
    section("Yours to decide", choices),
    section("Raw output", state.landings.length > 0 ? [`Of every gate, in \`${join(folder, "output")}\`.`] : []),
    section("Handoffs", handoffs),
    section("Journal", bad),
    state.landings.length > 0 ? commandsText(state) : "",
  ];
  return sections.filter(Boolean).join("\n");
}

const section = (title: string, lines: readonly string[]): string =>
  lines.length > 0 ? `## ${title}\n\n${lines.join("\n")}\n` : "";

function summary({ lastAt, startedAt, aborted, done, line, tip, base, landings, gates }: RunState): string {
  const over = aborted ? "It was aborted" : done ? "It is done" : "It is still under way";
  const names = gates.map(({ name, run }) => `${name} (\`${run}\`)`).join(", ");
  const proof = landings.length > 0 ? ` On its tip landing itself ran, and saw pass: ${names}.` : "";
  const where = `Line \`${line}\` stands on \`${tip.slice(0, 10)}\`, base is \`${base.slice(0, 10)}\`.`;
  return `${over}; it took ${clock(lastAt - startedAt)}. ${where}${proof}`;
}

function landedText(state: RunState, { task, attempts }: TaskState): string {
  const last = attempts.at(-1);
  const landing = state.landings.find((each) => last && each.attempts.includes(last.id));
  if (!last || !landing) return `- **${task.id} ${task.title}**: was done before the run.`;
  const proof = state.evidence.filter(({ by, tree, code }) => by === "landing" && tree === landing.tree && code === 0);
  const raw = proof.map(({ output }) => basename(output)).join(", ");
  const which = attempts.length === 1 ? "" : `, attempt ${attempts.length}`;
  const isNamed = (path: string): boolean => task.files.some((each) => matches(each.path, path));
  const paths = last.submitted?.paths ?? [];
  const others = task.files.length > 0 ? paths.filter((path) => !isNamed(path)) : [];
  const missed =
    task.files.length > 0 && !paths.some(isNamed) ? ". **None of the files that it names was touched**" : "";
  const extra = others.length > 0 ? `. Touched though not named: ${others.join(", ")}` : "";
  return `- **${task.id} ${task.title}**: \`${landing.to.slice(0, 10)}\`${which}; ${raw}${missed}${extra}`;
}

function restText({ task, state, reason, note, attempts }: TaskState): string {
  const branch = attempts.findLast(({ begun }) => begun)?.begun?.branch;
  const why = [reason === "dependency" ? "what it depends on did not land" : reason, note].filter(Boolean).join(": ");
  const tries = attempts.length > 1 ? ` (${attempts.length} attempts)` : "";
  const left = branch ? `. What there is: \`${branch}\`` : "";
  return `- **${task.id} ${task.title}**: ${state}${tries}${why ? `, ${why}` : ""}${left}`;
}

function commandsText({ line, base, run }: RunState): string {
  const commands = [
    [`git log --oneline ${base.slice(0, 10)}..${line}`, "look at it"],
    [`git merge --ff-only ${line}`, "merge it into the branch that you are on"],
    [`git push -u origin ${line}`, "or push it"],
    [`gh pr create --head ${line}`, "and open the pull request"],
    [typed(`clean --run ${run}`), "afterwards: remove what the run left"],
  ];
  const lines = commands.map(([command, what]) => `- \`${command}\`: ${what}`);
  return section("What next", ["Nothing was merged or pushed: that is yours.", "", ...lines]);
}
