import { readFile, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import type { Blueprint } from "./blueprint/blueprint.ts";
import type { Overlay } from "./blueprint/overlay.ts";
import { EXIT, Fault } from "./fault.ts";
import { readIfThere } from "./files.ts";
import { findPlace, type Place } from "./git/repository.ts";
import type { Finding, Plan, Tools } from "./plan/task.ts";

// YAML, its checks and the reader of lists are loaded by the few commands that want them: hooks and gates are called by
// the hundred.

/** Where rails lie: the project's win over the person's, those over the plugin's, which is seen from its bin/minion. */
async function folders({ top }: Place): Promise<{ project: string; person: string; shipped: string }> {
  const person = resolve(process.env.CLAUDE_CONFIG_DIR?.trim() || join(homedir(), ".claude"), "minion");
  const plugin = dirname(dirname(await realpath(process.argv[1] as string)));
  return { project: join(top, ".claude", "minion"), person, shipped: join(plugin, "skills") };
}

export async function blueprintAt(place: Place): Promise<Blueprint> {
  const { project, person, shipped } = await folders(place);
  const own = [person, project].map((folder) => join(folder, "blueprint.md"));
  const { readBlueprint } = await import("./blueprint/blueprint.ts");
  return readBlueprint([join(shipped, "minion-blueprint", "SKILL.md"), ...own]);
}

/** A project's own agents serve as expertise too. */
export async function overlaysAt(place: Place): Promise<Map<string, Overlay>> {
  const { project, person, shipped } = await folders(place);
  const agents = join(place.top, ".claude", "agents");
  const { readOverlays } = await import("./blueprint/overlay.ts");
  return readOverlays([join(project, "overlays"), join(person, "overlays"), join(shipped, "minion-overlays"), agents]);
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
  const { project, person, shipped } = await folders(place);
  const { findTools } = await import("./blueprint/toolchain.ts");
  const { makePlan } = await import("./plan/plan.ts");
  const file = "toolchains.md";
  const own = (await readIfThere(join(project, file))) ?? (await readIfThere(join(person, file)));
  const table = own ?? (await readFile(join(shipped, "minion-blueprint", file), "utf8"));
  const tools = await findTools(place.top, place.prefix, table);
  const plan = makePlan(list, source === "-" ? "the list" : source);
  return { place, tools, plan: { ...plan, findings: [...plan.findings, ...unusable(plan, await overlaysAt(place))] } };
}

function unusable({ tasks }: Plan, known: ReadonlyMap<string, Overlay>): Finding[] {
  const names = [...known.values()].map((each) => each.name).join(", ");
  return tasks.flatMap(({ id, line, agent }) =>
    agent.flatMap((name): Finding[] => {
      const found = known.get(name.toLowerCase());
      if (found?.fault === null) return [];
      const message = found?.fault ?? `task ${id}: there is no expertise called ${name}`;
      return [{ level: "error", code: "unknown-agent", line, message, hint: `there are ${names}` }];
    }),
  );
}
