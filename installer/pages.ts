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
