import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import * as v from "valibot";
import { readText } from "../program/files.ts";
import { readAsClient } from "./as-client.ts";
import { type Markdown, readPage } from "./markdown.ts";
import { checked, text } from "./schema.ts";

/** What may stand above expertise and guides of ours. */
const FIELDS = v.strictObject({
  when: v.optional(text),
  kind: v.optional(v.picklist(["role", "domain"])),
  name: v.optional(text),
  description: v.optional(text),
});

/** Expertise that is added to a worker's task: a Markdown file with a line for whoever chooses,
 * `when` it fits. A role says how to work, and a phase may bring another one; `fault`: why it
 * cannot be used; null where it can. */
export type Overlay = Readonly<{
  name: string;
  when: string;
  isRole: boolean;
  body: string;
  fault: string | null;
}>;

/** All overlays in these folders, the first of which wins, by name in lower case. One that cannot
 * be read is a fault of that one only.
 * @param agents a folder of files that Claude Code has a say in, after all others */
export async function readOverlays(
  folders: readonly string[],
  agents = "",
): Promise<Map<string, Overlay>> {
  const found = new Map<string, Overlay>();
  for (const folder of [...folders, ...(agents ? [agents] : [])])
    for (const file of await readdir(folder).catch(() => [])) {
      const name = basename(file, ".md");
      if (file === name || name === "SKILL" || found.has(name.toLowerCase())) continue;
      found.set(name.toLowerCase(), await readOverlay(name, join(folder, file), folder !== agents));
    }
  return found;
}

async function readOverlay(name: string, path: string, isOurs: boolean): Promise<Overlay> {
  try {
    const { data, body } = await pageAt(path, isOurs);
    const when = String(data.when ?? data.description ?? "");
    return { name, when, isRole: data.kind === "role", body: body.trim(), fault: null };
  } catch (error) {
    return { name, when: "", isRole: false, body: "", fault: (error as Error).message };
  }
}

async function pageAt(path: string, isOurs: boolean): Promise<Pick<Markdown, "data" | "body">> {
  const source = await readText(path);
  if (!isOurs) return readAsClient(source, path);
  const page = readPage(source, path, true);
  const hint = "the shipped skills/minion-overlays/ show what may stand there";
  checked(FIELDS, page, path, ["overlay", hint]);
  return page;
}
