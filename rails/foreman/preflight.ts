import { git } from "../git/git.ts";
import { commitOf } from "../git/repository.ts";
import type { Finding } from "../plan/task.ts";
import { clientIn, enough, NEEDED } from "../program/versions.ts";
import { outside } from "../program/world.ts";
import { type Check, type Flight, of } from "./flight.ts";
import { cleanliness, embedded, worktreeAsGiven } from "./flight-checkout.ts";
import { commands } from "./flight-commands.ts";
import { hooks } from "./flight-hooks.ts";
import { identity, signing } from "./flight-identity.ts";

/** Does the client in whose session this is wake it when a worker ends? */
const client: Check = async () => {
  const version = clientIn(outside().env);
  if (version === null || enough(version, NEEDED.claude)) return [];
  return [
    of(
      `Claude Code ${version} wakes no session when a worker ends: the run would wait for ever`,
      `update it to ${NEEDED.claude} or newer: claude update`,
    ),
  ];
};

/** Do names of the person's stand where ours are to be? A branch is a file, below which there is
 * no other. */
const refNames: Check = async ({ place }) => {
  const ask = ["show-ref", "--verify", "--quiet", "refs/heads/minion"];
  const { code } = await git({ cwd: place.top, accept: [1, 128] }, ...ask);
  if (code !== 0) return [];
  const hint = "git branch -m 'minion' another-name";
  return [of("there is a branch minion: git can make no minion/… beside it", hint)];
};

/** What is looked at, in order. */
const CHECKS: readonly Check[] = [
  client,
  identity,
  signing,
  refNames,
  commands,
  hooks,
  embedded,
  cleanliness,
];

/** Looks for whatever would make every worker fail, before one is paid for. It leaves nothing in
 * the repository.
 * @param isTried also makes a worktree as a worker gets it, in which the project's hooks run
 * @returns errors: no worker could do its work; else what a person should know */
export async function preflight(flight: Flight, isTried: boolean): Promise<Finding[]> {
  const base = await commitOf("HEAD", flight.place.top);
  if (base === null) return [];
  const findings: Finding[] = [];
  for (const check of CHECKS) findings.push(...(await check({ ...flight, base })));
  if (!isTried || findings.some(({ level }) => level === "error")) return findings;
  return [...findings, ...(await worktreeAsGiven({ ...flight, base }))];
}
