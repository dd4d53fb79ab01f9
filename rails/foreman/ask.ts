import type { Place } from "../git/repository.ts";
import type { Journal } from "../journal/journal.ts";
import { landed } from "../line/land.ts";
import { takeDown } from "../money/usage.ts";
import { launchesKnown } from "./dispatch.ts";
import { spentAt } from "./look.ts";
import { next } from "./next.ts";
import { notify } from "./notify.ts";

/** What is next in a run: what is ready lands, then what is to be started now is named.
 * @param until how long it may wait for landing, in milliseconds since 1970
 * @param isAll also what was said before */
export async function askNext(journal: Journal, place: Place, until: number, isAll = false) {
  const state = await journal.state();
  await launchesKnown(journal);
  const used = await takeDown(journal, false);
  const dollars = await spentAt(place, await journal.state(), used);
  const land = (time: number) => landed(journal, place, state, time);
  const asked = await next(journal, until, dollars, land, isAll);
  await notify(journal, place, dollars);
  return asked;
}
