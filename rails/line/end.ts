import { checksOfAll } from "../journal/checks.ts";
import type { Command } from "../journal/shapes.ts";
import { type RunState, tasksOf } from "../journal/state.ts";
import { isSameRails, type Landing, redNow, redOnTip } from "./landing.ts";

/** Proves the line as it is when nothing more will land: with the gates that are for the end, and
 * with nothing beside the files that a fresh clone would not have. What was just proven on such a
 * floor is not proven again. */
export async function checkEnd(landing: Landing, state: RunState): Promise<void> {
  const { journal, site, seen } = landing;
  const { tip, landings, fresh, gates, isStale } = state;
  await site.reset(tip);
  const isLittered = fresh && (await site.isLittered());
  if (isLittered) {
    await site.clear(tip);
    seen.clear();
  }
  const attempts = landings.flatMap((each) => each.attempts);
  const isProven = !isLittered && !isStale && !gates.some(({ isLast }) => isLast);
  const red = isProven
    ? null
    : ((await site.fill()) ?? (await redOnTip(landing, attempts, await site.tip(), true)));
  // Whoever mends the one is to see the other: both are said at once.
  const unmet = await unmetAtEnd(landing, state);
  const all = [...(red === null ? [] : [red]), ...unmet.map((each) => each.red)];
  await journal.decide((now, write) => {
    // Something landed is to go, or is proven by other commands: it is no end yet.
    if (!isSameRails(now, state) || now.dropping.length > 0) return;
    write({
      event: "end-checked",
      tip,
      red: all.join(" ") || null,
      checks: unmet.map(({ command }) => command),
    });
  });
}

/** Runs the checks of all that landed on the line as it stands at the end: what a later task broke
 * is named with both.
 * @returns the commands that are red, each with that in words */
async function unmetAtEnd(
  landing: Landing,
  state: RunState,
): Promise<{ command: string; red: string }[]> {
  const { site } = landing;
  const landed = [...state.tasks.values()].filter((task) => task.state === "landed");
  const checks = checksOfAll(state, landed);
  const unmet: { command: string; red: string }[] = [];
  for (const { command, tasks } of checks) {
    await site.reset(state.tip);
    const attempts = tasks.flatMap((id) => state.tasks.get(id)?.result?.id ?? []);
    const red = await redNow(landing, attempts, await site.tip(), command);
    if (red === null) continue;
    const breakers = await breakersOf(landing, state, attempts, command);
    const whose = `Of task ${tasks.join(", ")}: ${red}`;
    const since = breakers.length > 0 ? ` It passed until ${breakers.join(", ")} landed.` : "";
    unmet.push({ command: command.run, red: `${whose}${since}` });
  }
  return unmet;
}

/** Which tasks landed when a check of others came to be red, since these landed; found by halves.
 * None where nothing landed after them. */
async function breakersOf(
  landing: Landing,
  state: RunState,
  attempts: readonly string[],
  command: Command,
): Promise<string[]> {
  const { landings } = state;
  const own = landings.findLastIndex((each) => each.attempts.some((id) => attempts.includes(id)));
  let [green, red] = [own, landings.length - 1];
  if (own < 0 || green === red) return [];
  while (red - green > 1) {
    const middle = Math.floor((green + red) / 2);
    await landing.site.reset(landings[middle]?.to ?? state.tip);
    const tip = await landing.site.tip();
    if ((await redNow(landing, attempts, tip, command)) === null) green = middle;
    else red = middle;
  }
  const { attempts: broke = [], dropped = [] } = landings[red] ?? {};
  return [...tasksOf(state, broke), ...dropped];
}
