import { isPass } from "../journal/passed.ts";
import type { Command } from "../journal/shapes.ts";
import type { RunState } from "../journal/state.ts";
import { commandsOf, isSameRails, type Landing, proveHere, putBack } from "./landing.ts";

/** Runs a check on the base, where it shows whether the task is done before anybody has begun. */
export async function lookAtBase(
  landing: Landing,
  state: RunState,
  command: Command,
): Promise<void> {
  await landing.site.reset(state.base);
  const tip = await landing.site.tip();
  await proveHere(landing, [], command);
  await putBack(landing, tip);
}

/** Runs every gate on the base, so that what is red there is said before anybody is set to work. */
export async function checkBase(landing: Landing, state: RunState): Promise<void> {
  await landing.site.reset(state.base);
  const tip = await landing.site.tip();
  const red: string[] = [];
  // What shows that the whole is done is red there, and is to be.
  for (const command of commandsOf(state, true).filter(({ isCheck }) => !isCheck)) {
    const evidence = await proveHere(landing, [], command);
    const isMoved = await putBack(landing, tip);
    if (!isPass(evidence) || isMoved) red.push(command.name);
    if (command === state.setup && red.length > 0) break;
  }
  await landing.journal.decide((now, write) => {
    // Else it is looked at once more, with the rails that were taken meanwhile.
    if (isSameRails(now, state)) write({ event: "base-checked", red });
  });
}
