import { isNone, slotsOf } from "./handoff.ts";
import type { AttemptState, RunState } from "./state.ts";

/** What a worker found beside its task: what it says under a slot of the handoff. */
export type Found = Readonly<{ task: string; attempt: string; slot: string; text: string }>;

/** What a blueprint of before said of what goes up. */
const BEFORE = ["Concerns", "Deviations from the task", "Findings for others"];

/** What an attempt found: the slots that go up and do not say «none», in their order. */
export function findingsIn({ blueprint }: RunState, attempt: AttemptState): Found[] {
  const { submitted, phase, task, id } = attempt;
  if (!submitted || !phase.writes) return [];
  const said = slotsOf(submitted.handoff, blueprint.slots);
  return (blueprint.findings ?? BEFORE).flatMap((slot) => {
    const text = said.get(slot) ?? "";
    return text === "" || isNone(text) ? [] : [{ task: task.id, attempt: id, slot, text }];
  });
}

/** All that workers found in a run, in the order of their tasks. */
export const findingsOf = (state: RunState): Found[] =>
  [...state.tasks.values()].flatMap(({ attempts }) =>
    attempts.flatMap((attempt) => findingsIn(state, attempt)),
  );
