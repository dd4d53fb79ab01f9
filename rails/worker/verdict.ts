import { EXIT, Fault } from "../program/fault.ts";
import { isOfAgent, type Own, ownAttempt, wasBegunIn } from "./attempt.ts";
import { HANDOFF_LIMIT, handIn, untouched } from "./hand-in.ts";

/** What one that judges came to: on `fail` the task goes back with the findings.
 * @param findings Markdown: each with its file and line, and what would show it
 * @throws Fault where the attempt is not there to judge, or says nothing of what it found */
export async function giveVerdict(
  id: string,
  verdict: string,
  findings: string,
  cwd: string,
): Promise<void> {
  const own = await ownAttempt(cwd);
  const text = findings.trim();
  const way = "say pass or fail, with what you looked at or found on stdin";
  const form = "write each as «src/a.ts:12: what is wrong, what shows it»";
  if (own.attempt.id !== id)
    throw new Fault("not-yours", `this worktree is ${own.attempt.id}'s`, "judge your own attempt");
  if (own.attempt.phase.picks) return pick(own, verdict, text);
  if (!own.attempt.phase.back)
    throw new Fault("no-judge", `phase ${own.attempt.phase.name} judges nothing`, "minion submit");
  if (verdict !== "pass" && verdict !== "fail")
    throw new Fault("usage", `${verdict} is no verdict`, way, EXIT.usage);
  if (text === "" || text.length > HANDOFF_LIMIT)
    throw new Fault("no-findings", "nothing, or far too much, is said", way);
  if (verdict === "fail" && !/\S:\d/.test(text))
    throw new Fault("no-place", "no finding names its place", form);
  refuseAuthor(own);
  const result = await untouched(own);
  await handIn(own, () => ({ event: "submitted", attempt: id, handoff: text, verdict, ...result }));
}

/** The letters by which whoever chooses knows the variants. */
export const LETTERS: readonly string[] = ["A", "B", "C", "D", "E"];

/** Takes down which of several variants one chose that judges them.
 * @param why what decided */
async function pick(own: Own, letter: string, why: string): Promise<void> {
  const { id, task, order } = own.attempt;
  const chosen = order[LETTERS.indexOf(letter.toUpperCase())];
  if (!chosen) {
    const there = LETTERS.slice(0, order.length).join(", ");
    const way = `say one of ${there}, with what decided on stdin`;
    throw new Fault("usage", `${letter} is none of them`, way, EXIT.usage);
  }
  if (why === "" || why.length > HANDOFF_LIMIT)
    throw new Fault("no-findings", "nothing, or far too much, is said", "say what decided");
  refuseAuthor(own);
  const result = await untouched(own);
  await handIn(
    own,
    () => ({ event: "submitted", attempt: id, handoff: why, verdict: "pass", ...result }),
    { event: "picked", task: task.id, attempt: chosen, by: "judge" },
  );
}

/** A verdict is taken only from the agent that was launched to judge, in the worktree that the
 * client made for it, and not where that agent wrote something of the task.
 * @throws Fault `not-yours` */
function refuseAuthor({ attempt, place }: Own): void {
  const { id, task, launches } = attempt;
  const agents = launches.map(({ agent }) => agent);
  const own = agents.find((agent) => isOfAgent(place.top, agent));
  const isAuthor = task.attempts.some(
    (each) =>
      each.phase.writes &&
      (each.launches.some(({ agent }) => agent === own) || wasBegunIn(each, place.top)),
  );
  const why = [
    agents.length === 0 && `no agent was launched for ${id}`,
    agents.length > 0 && !own && `${place.top} is not the worktree of ${id}'s agent`,
    isAuthor && `whoever wrote something of task ${task.id} does not judge it`,
  ].find(Boolean);
  if (why) throw new Fault("not-yours", why, "stop and say so");
}
