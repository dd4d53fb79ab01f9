import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { cleanEnv, git } from "../git/git.ts";
import type { Place } from "../git/repository.ts";
import { type Signing, signingAt } from "../git/signing.ts";
import { type Check, inScratch, of } from "./flight.ts";

/** Can git tell who commits? */
export const identity: Check = async ({ place }) => {
  for (const who of ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"])
    if ((await git({ cwd: place.top, accept: [1, 128] }, "var", who)).code !== 0)
      return [
        of(
          "git does not know who commits here: no worker could commit",
          'git config user.name "Your Name", and git config user.email you@example.com',
        ),
      ];
  return [];
};

/** Signs a commit that nobody ever sees, in a place of its own and without asking anybody. */
export const signing: Check = ({ place, base }) =>
  inScratch(async (folder) => {
    const signed = await signingAt(place.top, folder);
    if (signed === null) return [];
    const error = await signIn(folder, place, base, signed);
    if (error === null)
      return [
        of(
          `commit.gpgsign is on (${signed.format}): every commit of the line is signed, as is a merge`,
          "keep the key unlocked while the run goes on: nobody is asked for it",
          "note",
        ),
      ];
    return [
      of(
        `commit.gpgsign is on, and signing does not work unless somebody is asked: ${error}`,
        "unlock the key, or git config commit.gpgsign false while the run goes on",
      ),
    ];
  });

/** @returns what git says where it cannot sign, else null */
async function signIn(folder: string, { top, common }: Place, base: string, signed: Signing) {
  const alternates = [join(common, "objects"), process.env.GIT_ALTERNATE_OBJECT_DIRECTORIES];
  const env = cleanEnv({
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    ...signed.env,
    GIT_OBJECT_DIRECTORY: join(folder, "objects"),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: alternates.filter(Boolean).join(delimiter),
  });
  await mkdir(join(folder, "objects"));
  const what = ["commit-tree", "-S", "-m", "minion: can this be signed?", `${base}^{tree}`];
  // In a session of its own: whoever would ask finds no terminal.
  const options = { cwd: top, env, timeout: 20_000, detached: true };
  return promisify(execFile)("git", [...signed.options, ...what], options).then(
    () => null,
    ({ stderr, message }) => firstWords(stderr || message),
  );
}

/** The line of an error that says the most. */
function firstWords(said: string): string {
  const lines = said.split("\n").map((line) => line.trim());
  const plain = lines.filter((line) => line !== "" && !line.startsWith("[GNUPG:]"));
  return (plain.find((line) => /^(error|fatal|gpg): /.test(line)) ?? plain[0] ?? "no word").trim();
}
