import { createHash } from "node:crypto";
import { appendFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { readIfThere } from "../program/files.ts";
import { exact, exactLines } from "../program/shown.ts";
import { readRails } from "./blueprint.ts";
import { readToolchains } from "./toolchain.ts";

/** What a person is asked to agree to: commands in one line each, all that is shown for them, and
 * a hash of exactly that. */
export type Consent = Readonly<{ commands: readonly string[]; text: string; hash: string }>;

/** How the commands of each file of a project's rails are found: of a cloned repository, somebody
 * else's. */
const FILES: Readonly<Record<string, (text: string, file: string) => string[]>> = {
  "blueprint.md": commandsOfBlueprint,
  "toolchains.md": (text, file) =>
    readToolchains(text, file).map(({ name, run, when }) => `${name}: ${run} (${when.join(", ")})`),
};

function commandsOfBlueprint(text: string, file: string): string[] {
  const {
    gates,
    "gates+": more,
    allow,
    "allow+": also,
    notify,
  } = givenIn(readRails(text, file).fields);
  return [
    ...[...(gates ?? []), ...(more ?? [])].flatMap(({ name, run, cwd }) =>
      run ? [`gate ${name}: ${run}${cwd ? ` (in ${cwd})` : ""}`] : [],
    ),
    ...(notify ? [`where you are wanted: ${notify}`] : []),
    ...[...(allow ?? []), ...(also ?? [])].map((entry) => `workers, unasked: ${entry} …`),
  ];
}

type Gates = readonly Readonly<{ name: string; run?: string; cwd?: string }>[];
type Given = Readonly<{
  gates?: Gates;
  "gates+"?: Gates;
  allow?: readonly string[];
  "allow+"?: readonly string[];
  notify?: string;
}>;
const givenIn = (fields: object): Given => fields;

/** The rails that a project brings, or null where it brings none, or a person agreed to exactly
 * these before.
 * @param top the checkout's top folder
 * @param common the git folder in which it is remembered */
export async function newRails(top: string, common: string): Promise<Consent | null> {
  const names = Object.keys(FILES);
  const texts = await Promise.all(
    names.map((name) => readIfThere(join(top, ".claude", "minion", name))),
  );
  const files = names.flatMap((name, index) => {
    const text = texts[index] ?? null;
    return text === null ? [] : [{ file: `.claude/minion/${name}`, name, text }];
  });
  if (files.length === 0) return null;
  const commands = files.flatMap(({ file, name, text }) => commandsOf(file, name, text));
  const shown = [
    counted(commands),
    ...commands.map((command) => `  ${command}`),
    ...files.flatMap(({ file, text }) => ["", `${file}:`, ...exactLines(text)]),
  ].join("\n");
  return unlessAgreed({ commands, text: shown }, files.map(({ text }) => text).join("\0"), common);
}

const counted = ({ length }: readonly string[]): string =>
  length === 0 ? "It names no command." : `All that it would run (${length}):`;

/** A file that cannot be read names no command that would run, which is said. */
function commandsOf(file: string, name: string, text: string): string[] {
  try {
    return (FILES[name]?.(text, file) ?? []).map(exact);
  } catch (error) {
    return [exact(`cannot be read, and stops every run: ${(error as Error).message}`)];
  }
}

/** Commands that somebody wrote into a task list, or null where there are none, or a person agreed
 * to exactly these before.
 * @param all each with what it is for, as `test: npm test` */
export async function newCommands(all: readonly string[], common: string): Promise<Consent | null> {
  if (all.length === 0) return null;
  const commands = all.map(exact);
  const text = [counted(commands), ...commands.map((command) => `  ${command}`)].join("\n");
  return unlessAgreed({ commands, text }, all.join("\0"), common);
}

/** @param raw what is agreed to as it is: two texts may look alike once they are shown */
async function unlessAgreed(
  shown: Omit<Consent, "hash">,
  raw: string,
  common: string,
): Promise<Consent | null> {
  const hash = createHash("sha256").update(`${shown.text}\0${raw}`).digest("hex");
  const agreed = ((await readIfThere(agreedIn(common))) ?? "").split("\n");
  return agreed.includes(hash) ? null : { ...shown, hash };
}

/** Remembers that a person agreed. */
export async function agree(consent: Consent | null, common: string): Promise<void> {
  if (!consent) return;
  await mkdir(join(common, "minion"), { recursive: true });
  await appendFile(agreedIn(common), `${consent.hash}\n`);
}

const agreedIn = (common: string): string => join(common, "minion", "agreed");
