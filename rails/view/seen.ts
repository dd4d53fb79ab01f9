import { existsSync } from "node:fs";
import { faultIn, lookAt } from "../foreman/look.ts";
import { gitText } from "../git/git.ts";
import type { Place } from "../git/repository.ts";
import type { Run } from "../journal/journal.ts";
import type { RunState } from "../journal/state.ts";
import { takeDown } from "../money/usage.ts";
import type { Remote, Seen } from "./said.ts";
import { sizesOf } from "./sizes.ts";

/** A run with all that is known of it beside its journal; what was used is taken down there. */
export async function seenAt(
  place: Place,
  { journal }: Pick<Run, "journal">,
): Promise<{ state: RunState; seen: Seen }> {
  const used = await takeDown(journal, true);
  const state = await journal.state();
  const { cost, now, fault } = await lookAt(place, state, used);
  const all = [...state.attempts.values()].flatMap(({ begun }) => begun?.worktree ?? []);
  const seen: Seen = {
    folder: journal.folder,
    cost,
    now,
    faults: faultIn(fault),
    sizes: await sizesOf(state, place),
    worktrees: new Set(all.filter((path) => existsSync(path))),
    remote: await remoteAt(place),
  };
  return { state, seen };
}

/** The remote that is called `origin`, else the first; null where there is none. */
async function remoteAt({ main }: Place): Promise<Remote | null> {
  const text = await gitText(main, "remote").catch(() => "");
  const names = text.split("\n").filter(Boolean);
  const name = names.includes("origin") ? "origin" : names[0];
  if (name === undefined) return null;
  const url = await gitText(main, "remote", "get-url", name).catch(() => "");
  return { name, isGitHub: /(^|[/@.])github\.[\w.]+[:/]/i.test(url) };
}
