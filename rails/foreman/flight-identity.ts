import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { cleanEnv, git, gitText } from "../git/git.ts";
import type { Place } from "../git/repository.ts";
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
export const signing: Check = async ({ place, base }) => {
  const asked = ["config", "--type=bool", "commit.gpgsign"];
  const isSigned = await gitText({ cwd: place.top, accept: [1, 128] }, ...asked);
  if (isSigned !== "true") return [];
  const { format, error } = await inScratch((folder) => signIn(folder, place, base));
  if (error === null)
    return [
      of(
        `commit.gpgsign is on (${format}): every commit of the line is signed, as is a merge`,
        "keep the key unlocked while the run goes on",
        "note",
      ),
    ];
  return [
    of(
      `commit.gpgsign is on, and signing does not work unless somebody is asked: ${error}`,
      "unlock the key, or git config commit.gpgsign false while the run goes on",
    ),
  ];
};

async function signIn(folder: string, { top, common }: Place, base: string) {
  const ask = (name: string) => gitText({ cwd: top, accept: [1, 128] }, "config", name);
  const format = (await ask("gpg.format")) || "openpgp";
  const set: string[] = [];
  if (format === "openpgp") {
    const program = (await ask("gpg.openpgp.program")) || (await ask("gpg.program")) || "gpg";
    const quiet = join(folder, "gpg");
    const real = `'${program.replaceAll("'", "'\\''")}'`;
    const script = `#!/bin/sh\nexec ${real} --batch --no-tty --pinentry-mode cancel "$@"\n`;
    await writeFile(quiet, script, { mode: 0o700 });
    set.push("-c", `gpg.program=${quiet}`, "-c", `gpg.openpgp.program=${quiet}`);
  }
  const alternates = [join(common, "objects"), process.env.GIT_ALTERNATE_OBJECT_DIRECTORIES];
  const env = cleanEnv({
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    SSH_ASKPASS_REQUIRE: "never",
    GPG_TTY: "",
    DISPLAY: "",
    GIT_OBJECT_DIRECTORY: join(folder, "objects"),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: alternates.filter(Boolean).join(delimiter),
  });
  await mkdir(join(folder, "objects"));
  const words = [
    ...set,
    "commit-tree",
    "-S",
    "-m",
    "minion: can this be signed?",
    `${base}^{tree}`,
  ];
  // In a session of its own: whoever would ask finds no terminal.
  const options = { cwd: top, env, timeout: 20_000, detached: true };
  const error = await promisify(execFile)("git", words, options).then(
    () => null,
    ({ stderr, message }) => firstWords(stderr || message),
  );
  return { format, error };
}

/** The line of an error that says the most. */
function firstWords(said: string): string {
  const lines = said.split("\n").map((line) => line.trim());
  const plain = lines.filter((line) => line !== "" && !line.startsWith("[GNUPG:]"));
  return (plain.find((line) => /^(error|fatal|gpg): /.test(line)) ?? plain[0] ?? "no word").trim();
}
