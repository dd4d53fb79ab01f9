import { hasRounds, roundsTried } from "../journal/rounds.ts";
import { code, inline } from "../program/shown.ts";
import type { Own } from "./attempt.ts";
import { HANDOFF_CHARACTERS, PHASE_CHARACTERS, quoted, rawOf } from "./quoted.ts";
import { LETTERS } from "./verdict.ts";

/** What there is to choose from: each by a letter that says nothing of whose it is. */
export function toChoose(own: Own): string {
  const { id, order } = own.attempt;
  const parts = order.map((attempt, at) => {
    const { begun, submitted } = own.state.attempts.get(attempt) ?? {};
    const range = `${begun?.base.slice(0, 10)} ${submitted?.head.slice(0, 10)}`;
    const raw = rawOf(own, submitted?.tree ?? "").join("\n");
    return `**${LETTERS[at]}**: \`git diff ${range}\`\n${raw}`;
  });
  const way = `Choose one by its letter, with what decided on stdin: \`minion verdict ${id} A\`.`;
  return `## To choose from\n\nAll do the same task, and their gates are green. ${way}\n\n${parts.join("\n\n")}`;
}

/** What each round before this one tried and left, and what was red then. */
export function roundsBefore({ state, attempt: { task, phase } }: Own): string {
  if (!hasRounds(phase)) return "";
  const rounds = roundsTried(task, phase);
  const told = rounds.map(({ id, submitted }, at) => {
    const most = at === rounds.length - 1 ? PHASE_CHARACTERS : HANDOFF_CHARACTERS;
    const red = (submitted?.red ?? []).map(
      (gate) => `- ${inline(gate)}${linesOf(state, id, gate)}`,
    );
    return `### Round ${at + 1}\n\n${quoted(submitted?.handoff ?? "", most)}\n\nStill red:\n${red.join("\n")}`;
  });
  return told.length > 0 ? `## Rounds before\n\n${told.join("\n\n")}` : "";
}

/** By which lines a gate named its failures to an attempt the last time. */
function linesOf({ evidence }: Own["state"], attempt: string, gate: string): string {
  const ran = evidence.findLast(
    (each) => each.gate === gate && each.by === "worker" && each.attempts[0] === attempt,
  );
  const lines = (ran?.errors ?? []).map(code);
  return lines.length > 0 ? `: ${lines.join(", ")}` : "";
}
