import { readFile, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { type Blueprint, blueprintFiles, readBlueprint } from "./blueprint/blueprint.ts";
import { overlayFolders, readOverlays } from "./blueprint/overlay.ts";
import { findTools } from "./blueprint/toolchain.ts";
import { readSource } from "./exit.ts";
import { sessionOf } from "./foreman/start.ts";
import { findPlace, type Place } from "./git/repository.ts";
import { makePlan } from "./plan/plan.ts";
import type { Finding, Plan, Task, Tools } from "./plan/task.ts";
import { findRun } from "./record/journal.ts";

/** What every command may be given. */
export interface Common {
  readonly json?: boolean;
  readonly run?: string;
}

export const session = sessionOf(process.env);
const config = resolve(process.env.CLAUDE_CONFIG_DIR?.trim() || join(homedir(), ".claude"));
export const inSeconds = (seconds: number): number => Date.now() + seconds * 1000;

/** The plugin's folder, seen from its bin/minion. */
const shipped = async (): Promise<string> => dirname(dirname(await realpath(process.argv[1] as string)));

export const blueprintAt = async ({ top }: Place): Promise<Blueprint> =>
  readBlueprint(blueprintFiles(await shipped(), config, top));
export const overlaysAt = async ({ top }: Place): ReturnType<typeof readOverlays> =>
  readOverlays(overlayFolders(await shipped(), config, top));

export async function runAt({ run }: Common): Promise<{ place: Place } & Awaited<ReturnType<typeof findRun>>> {
  const place = await findPlace(process.cwd());
  return { place, ...(await findRun(place.common, session.id, run)) };
}

/** The table of tools in force: the project's, else the person's, else the shipped one. */
async function toolchainsAt({ top }: Place): Promise<string> {
  const own = [join(top, ".claude"), config].map((folder) => join(folder, "minion", "toolchains.md"));
  for (const file of own) {
    const table = await readFile(file, "utf8").catch(() => null);
    if (table !== null) return table;
  }
  return readFile(join(await shipped(), "skills", "minion-blueprint", "toolchains.md"), "utf8");
}

/** Reads a list and everything that a plan says about it. */
export async function planAt(source: string): Promise<{ place: Place; plan: Plan; tools: Tools }> {
  const list = await readSource(source, (path) => readFile(path, "utf8"));
  const place = await findPlace(process.cwd());
  const table = await toolchainsAt(place);
  const tools = await findTools(place.top, place.prefix, table);
  const plan = makePlan(list, source === "-" ? "standard input" : source);
  const known = await overlaysAt(place);
  const findings = plan.tasks.flatMap((task) => task.agent.flatMap((name) => unusable(task, name, known)));
  return { place, tools, plan: { ...plan, findings: [...plan.findings, ...findings] } };
}

function unusable({ id, line }: Task, name: string, known: Awaited<ReturnType<typeof readOverlays>>): Finding[] {
  const found = known.get(name.toLowerCase());
  if (found?.fault === null) return [];
  const message = found?.fault ?? `task ${id}: there is no expertise called ${name}`;
  const hint = found ? "mend that file" : `there are ${[...known.values()].map((each) => each.name).join(", ")}`;
  return [{ level: "error", code: "unknown-agent", line, message, hint }];
}
