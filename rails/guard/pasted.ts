import { realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readMarkdown } from "../blueprint/markdown.ts";
import { readIfThere } from "../program/files.ts";
import { outside } from "../program/world.ts";

/** A prompt that is a paste, which begins with our command: text of four lines and more the client
 * takes for no command. */
const PASTED = /^\s*<pasted_content\b[^>]*>\s*\/minion(?::minion)?(?!\S)/;
const GIVEN = "(What stands in the paste behind `/minion`, and what was typed below it.)";

/** What a session is told where a person pasted `/minion` and their tasks: the command's page, as
 * the client hands it out where it is typed. Null where they did not. */
export async function pastedCommand(prompt: string, session: string): Promise<string | null> {
  if (!PASTED.test(prompt)) return null;
  const page = await commandPage();
  if (page === null) return null;
  const body = page
    .replaceAll("$ARGUMENTS", GIVEN)
    .replaceAll(/\$\{CLAUDE_SESSION_ID\}/g, () => session);
  return `The person called the command /minion; its page follows. Do what it says.\n\n${body}`;
}

/** The command's page, which an installation has as its skill. */
async function commandPage(): Promise<string | null> {
  const plugin = dirname(dirname(await realpath(outside().program)));
  for (const name of ["commands/minion.md", "SKILL.md"]) {
    const text = await readIfThere(join(plugin, name));
    if (text !== null) return readMarkdown(text, name).body.trim();
  }
  return null;
}
