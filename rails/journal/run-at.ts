import { findPlace, type Place } from "../git/repository.ts";
import { EXIT, Fault } from "../program/fault.ts";
import type { World } from "../program/world.ts";
import { findRun, type Run } from "./journal.ts";
import { isOthers, sessionOf } from "./owner.ts";
import type { RunState } from "./state.ts";

type At = Run & { readonly place: Place };

/** The run that a verb is about, and where it is: the one that is named, else this session's
 * newest, done or not, else the newest of the repository.
 * @param isMeant which ones go before all others where none is named
 * @throws Fault `no-repository`, `no-run` */
export async function runAt(
  world: World,
  name?: string,
  isMeant?: (state: RunState) => boolean,
): Promise<At> {
  return runIn(await findPlace(world.cwd), world, name, isMeant);
}

/** As `runAt`, where it is known already where that is. */
export async function runIn(
  place: Place,
  world: World,
  name?: string,
  isMeant?: (state: RunState) => boolean,
): Promise<At> {
  const session = world.env.CLAUDE_CODE_SESSION_ID ?? "";
  return { place, ...(await findRun(place.common, session, name, isMeant)) };
}

/** The run that a verb changes by a person's word. Within a session, one that another session leads
 * has to be named.
 * @throws Fault `run-owned`, and what `runAt` throws */
export async function runToChange(world: World, verb: string, name?: string): Promise<At> {
  const at = await runAt(world, name);
  const caller = await sessionOf(world.env);
  if (name === undefined && caller.session !== "" && (await isOthers(at.state, caller))) {
    const { run, session } = at.state;
    const what = `run ${run} is of another session, which still runs (${session})`;
    throw new Fault("run-owned", what, `minion ${verb} --run ${run}, if you mean that one`);
  }
  return at;
}

/** The run that a session drives: its own.
 * @throws Fault `run-owned` where another one leads it, and what `runAt` throws */
export async function runToDrive(world: World, name?: string): Promise<At> {
  const at = await runAt(world, name);
  if (!(await isOthers(at.state, await sessionOf(world.env)))) return at;
  const { run, session } = at.state;
  const what = `run ${run} is led by another session, which still runs (${session})`;
  throw new Fault(
    "run-owned",
    what,
    `minion resume --run ${run} --take takes it over`,
    EXIT.refused,
  );
}
