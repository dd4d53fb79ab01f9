import { createHash } from "node:crypto";
import { appendFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { readIfThere } from "../program/files.ts";

/** What of a project's own rails names commands: of a cloned repository, somebody else's. */
const FILES = ["blueprint.md", "toolchains.md"].map((name) => `.claude/minion/${name}`);

/** The rails that a project brings, or null where it brings none, or a person agreed to exactly
 * these before: what their files say, for a person to look at, and a hash of that.
 * @param top the checkout's top folder
 * @param common the git folder in which it is remembered */
export async function newRails(
  top: string,
  common: string,
): Promise<{ text: string; hash: string } | null> {
  const texts = await Promise.all(FILES.map((file) => readIfThere(join(top, file))));
  const text = FILES.flatMap((file, index) =>
    texts[index] === null ? [] : `${file}:\n${texts[index]}`,
  ).join("\n");
  const hash = createHash("sha256").update(text).digest("hex");
  const agreed = ((await readIfThere(agreedIn(common))) ?? "").split("\n");
  return text === "" || agreed.includes(hash) ? null : { text, hash };
}

/** Remembers that a person agreed to a project's rails as they are now. */
export async function agree(top: string, common: string): Promise<void> {
  const rails = await newRails(top, common);
  if (!rails) return;
  await mkdir(join(common, "minion"), { recursive: true });
  await appendFile(agreedIn(common), `${rails.hash}\n`);
}

const agreedIn = (common: string): string => join(common, "minion", "agreed");
