import { findPlace, type Place } from "../git/repository.ts";
import type { World } from "../program/world.ts";
import { findRun, type Run } from "./journal.ts";

/** The run that a verb is about, and where it is: the one that is named, else this session's newest
 * open one, else the newest of the repository.
 * @throws Fault `no-repository`, `no-run` */
export async function runAt(world: World, name?: string): Promise<Run & { readonly place: Place }> {
  const place = await findPlace(world.cwd);
  const session = world.env.CLAUDE_CODE_SESSION_ID ?? "";
  return { place, ...(await findRun(place.common, session, name)) };
}
