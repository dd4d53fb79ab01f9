import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gitList, gitText } from "./git.ts";

/** How commits are signed: in which format, and what a call of git gets so that nobody is asked. */
export type Signing = Readonly<{
  format: string;
  options: readonly string[];
  env: NodeJS.ProcessEnv;
}>;

/** How a checkout's configuration has commits signed, made such that nobody is asked: what cannot
 * sign then fails.
 * @param cwd whose configuration counts; a clone of it has only a part of that
 * @param folder where a program is written that is called in place of gpg
 * @returns null where commits are not signed there */
export async function signingAt(cwd: string, folder: string): Promise<Signing | null> {
  const where = { cwd, accept: [1, 128] };
  const ask = (...words: string[]) => gitText(where, "config", ...words);
  if ((await ask("--type=bool", "commit.gpgsign")) !== "true") return null;
  const settings = await gitList(
    where,
    "config",
    "-z",
    "--get-regexp",
    "^(user.signingkey|gpg[.])",
  );
  const set = settings.map((setting) => setting.replace("\n", "="));
  const format = (await ask("gpg.format")) || "openpgp";
  if (format === "openpgp") {
    const program = (await ask("gpg.openpgp.program")) || (await ask("gpg.program")) || "gpg";
    const quiet = join(folder, "gpg");
    const real = `'${program.replaceAll("'", "'\\''")}'`;
    const script = `#!/bin/sh\nexec ${real} --batch --no-tty --pinentry-mode cancel "$@"\n`;
    await writeFile(quiet, script, { mode: 0o700 });
    set.push(`gpg.program=${quiet}`, `gpg.openpgp.program=${quiet}`);
  }
  const options = ["commit.gpgSign=true", ...set].flatMap((setting) => ["-c", setting]);
  return { format, options, env: { SSH_ASKPASS_REQUIRE: "never", GPG_TTY: "", DISPLAY: "" } };
}
