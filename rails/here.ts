import { readFile, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { type Blueprint, blueprintFiles, readBlueprint } from "./blueprint/blueprint.ts";
import { type Overlay, overlayFolders, readOverlays } from "./blueprint/overlay.ts";
import { findTools } from "./blueprint/toolchain.ts";
import { EXIT, Fault } from "./fault.ts";
import { findPlace, type Place } from "./git/repository.ts";
import { makePlan } from "./plan/plan.ts";
import type { Finding, Plan, Task, Tools } from "./plan/task.ts";
import { findRun } from "./record/journal.ts";

/** The person's Claude Code folder. */
const config = resolve(process.env.CLAUDE_CONFIG_DIR?.trim() || join(homedir(), ".claude"));

/** The plugin's folder, seen from its bin/minion. */
const shipped = async (): Promise<string> => dirname(dirname(await realpath(process.argv[1] as string)));

export const blueprintAt = async ({ top }: Place): Promise<Blueprint> =>
  readBlueprint(blueprintFiles(await shipped(), config, top));

export const overlaysAt = async ({ top }: Place): Promise<Map<string, Overlay>> =>
  readOverlays(overlayFolders(await shipped(), config, top));

export async function runAt({
  run,
}: {
  run?: string;
}): Promise<{ place: Place } & Awaited<ReturnType<typeof findRun>>> {
  const place = await findPlace(process.cwd());
  return { place, ...(await findRun(place.common, process.env.CLAUDE_CODE_SESSION_ID ?? "", run)) };
}

/** Standard input to its end. @throws Fault `no-input` where it is a terminal */
export async function readInput(): Promise<string> {
  if (process.stdin.isTTY) throw new Fault("no-input", "nothing comes on standard input", "pipe a text in", EXIT.usage);
  return text(process.stdin);
}

/** Reads a list and everything that a plan says about it. */
export async function planAt(source: string): Promise<{ place: Place; plan: Plan; tools: Tools }> {
  const list = source === "-" ? await readInput() : await readFile(source, "utf8");
  const place = await findPlace(process.cwd());
  const tools = await findTools(place.top, place.prefix, await toolchainsAt(place));
  const plan = makePlan(list, source === "-" ? "the list" : source);
  const known = await overlaysAt(place);
  const findings = plan.tasks.flatMap((task) => task.agent.flatMap((name) => unusable(task, name, known)));
  return { place, tools, plan: { ...plan, findings: [...plan.findings, ...findings] } };
}

/** The table of tools in force: the project's, else the person's, else the shipped one. */
async function toolchainsAt({ top }: Place): Promise<string> {
  for (const folder of [join(top, ".claude"), config]) {
    const table = await readFile(join(folder, "minion", "toolchains.md"), "utf8").catch(() => null);
    if (table !== null) return table;
  }
  return readFile(join(await shipped(), "skills", "minion-blueprint", "toolchains.md"), "utf8");
}

function unusable({ id, line }: Task, name: string, known: ReadonlyMap<string, Overlay>): Finding[] {
  const found = known.get(name.toLowerCase());
  if (found?.fault === null) return [];
  const message = found?.fault ?? `task ${id}: there is no expertise called ${name}`;
  const hint = found ? "mend that file" : `there are ${[...known.values()].map((each) => each.name).join(", ")}`;
  return [{ level: "error", code: "unknown-agent", line, message, hint }];
}
