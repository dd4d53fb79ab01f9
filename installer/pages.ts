import { join } from "node:path";
import { replacedIn } from "../rails/blueprint/blueprint.ts";
import { faultsIn, faultsInShipped } from "../rails/foreman/pages.ts";
import { type Finding, finding } from "./finding.ts";

/** What is wrong with the rails in a folder: pages that would be read as less than they say.
 * @param isShipped they are the skills of a plugin, and not a person's or a project's */
export async function pagesIn(folder: string, isShipped = false): Promise<Finding[]> {
  const faults = await (isShipped ? faultsInShipped(folder) : faultsIn(folder));
  return faults.map(({ message, hint }) => {
    const [, file = folder, line, why = message] = /^(.+?):(\d+): (.*)$/s.exec(message) ?? [];
    return finding("page", file, { why, hint }, Number(line ?? 1), "frontmatter");
  });
}

/** Where a person's or a project's blueprint leaves out what a list of the shipped one has.
 * @param skills the plugin's folder of skills
 * @param folders of rails, the one that wins last */
export async function replacedBy(skills: string, folders: readonly string[]): Promise<Finding[]> {
  const shipped = ["patterns.md", "SKILL.md"].map((name) => join(skills, "minion-blueprint", name));
  const own = [...new Set(folders)].map((folder) => join(folder, "blueprint.md"));
  // A page that cannot be read is a finding of its own.
  const replaced = await replacedIn([...shipped, ...own]).catch(() => []);
  return replaced.map((said) => {
    const [, file = "", why = said, hint = ""] = /^(.+?): (.+?): (.*)$/s.exec(said) ?? [];
    return finding("replaced", file, { why, hint });
  });
}
