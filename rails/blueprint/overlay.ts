import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { readMarkdown } from "./markdown.ts";

/** Expertise that is added to a worker's task: a Markdown file with one line that says when it fits. */
export interface Overlay {
  readonly name: string;
  /** For whoever chooses: words and paths. */
  readonly when: string;
  readonly body: string;
  /** Why it cannot be used; null where it can. */
  readonly fault: string | null;
}

/** Where overlays lie, the winning folder first; a project's own agents serve too. */
export function overlayFolders(shipped: string, config: string, project: string): string[] {
  return [
    join(project, ".claude", "minion", "overlays"),
    join(config, "minion", "overlays"),
    join(shipped, "skills", "minion-overlays"),
    join(project, ".claude", "agents"),
  ];
}

/** All overlays there are, by name in lower case. One that cannot be read is a fault of that one only. */
export async function readOverlays(folders: readonly string[]): Promise<Map<string, Overlay>> {
  const found = new Map<string, Overlay>();
  for (const folder of folders) {
    const files = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const file of files.filter(
      (each) => each.name.endsWith(".md") && each.name !== "SKILL.md" && !each.isDirectory(),
    )) {
      const name = basename(file.name, ".md");
      if (!found.has(name.toLowerCase()))
        found.set(name.toLowerCase(), await readOverlay(name, join(folder, file.name)));
    }
  }
  return found;
}

async function readOverlay(name: string, path: string): Promise<Overlay> {
  try {
    const { data, body } = readMarkdown(await readFile(path, "utf8"), path);
    return { name, when: String(data.when ?? data.description ?? ""), body: body.trim(), fault: null };
  } catch (error) {
    return { name, when: "", body: "", fault: (error as Error).message };
  }
}
