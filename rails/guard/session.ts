import { alarmsOf, haltOf } from "../foreman/alarms.ts";
import { launchesKnown, toStart } from "../foreman/dispatch.ts";
import { waiting } from "../foreman/waiting.ts";
import type { Place } from "../git/repository.ts";
import { type Journal, ownRun } from "../journal/journal.ts";
import { isAlive } from "../program/process.ts";
import { outside } from "../program/world.ts";
import { isRunning } from "../proof/jobs.ts";
import { recall } from "../view/recall.ts";
import type { HookAnswer, HookInput } from "./answer.ts";

/** What a session is told of the open run that it owns: where that stands, once its context is made
 * anew; what is ready, when it ends its turn. */
export async function toSession(
  event: "SessionStart" | "Stop",
  input: HookInput,
  place: Place,
): Promise<HookAnswer> {
  const own = await ownRun(place.common, input.session_id ?? "");
  if (!own) return {};
  if (event === "Stop") {
    const what = await remind(own.journal, input);
    return what ? { stderr: `${what}\n`, exit: 2 } : {};
  }
  const { owner } = own.state;
  return { stdout: recall(own.state, owner !== null && !(await isAlive(owner))) };
}

/** Reminds of work that is ready and that nobody would wake the session for: once, until something
 * comes of it. Never of what cannot be started or landed anyway.
 * @returns what to say, or null */
async function remind(journal: Journal, input: HookInput): Promise<string | null> {
  if (input.stop_hook_active || input.permission_mode === "plan") return null;
  await launchesKnown(journal);
  return journal.decide(async (state, write) => {
    const job = `land ${state.run}`;
    // What it costs is not looked up here: where that stops a run, one more call of `next` says so.
    const at = { dollars: null, now: outside().now() };
    const stop = haltOf(state, alarmsOf(state, at), at);
    if (state.reminded || stop || state.errors.get(job)) return null;
    const start = toStart(state).map(({ id }) => id);
    // A worker that is still there wakes the session by its end.
    const workers = input.background_tasks?.filter((each) =>
      each.agent_type?.startsWith("minion:"),
    );
    const live = new Set(workers?.map(({ id }) => id));
    const isAtWork = (task: string) =>
      state.tasks
        .get(task)
        ?.attempts.at(-1)
        ?.launches.some(({ agent }) => live.has(agent)) === true;
    const isLanding = live.size > 0 && (await isRunning(state, job));
    const waits = isLanding ? [] : waiting(state, new Set(start), null);
    const landing = waits.filter(({ task, why }) => why === "landing" && !isAtWork(task));
    const ready = [...start, ...landing.map(({ task }) => task)];
    if (ready.length === 0) return null;
    const next = `minion next --json --run ${state.run}`;
    const what = `Run ${state.run} has work ready (${ready.join(", ")}): run ${next}`;
    write({ event: "reminded", what });
    return what;
  });
}
