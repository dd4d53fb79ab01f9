import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, posix, relative, resolve } from "node:path";
import { git, gitText } from "../git/git.ts";
import type { Place } from "../git/repository.ts";
import { readText } from "../program/files.ts";
import { type Check, isFolder, of } from "./flight.ts";

/** Hooks that take part in a worker's commit. */
const AT_COMMIT = ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"];

/** Which of the project's hooks run at a worker's commit, and which cannot? */
export const hooks: Check = async ({ place, base }) => {
  const { top } = place;
  const said = await gitText(
    { cwd: top, accept: [1, 128] },
    "config",
    "--type=path",
    "core.hooksPath",
  );
  if (said === "/dev/null") return [];
  const folder = resolve(top, said || join(place.common, "hooks"));
  const names = (await readdir(folder).catch(() => [])).filter((name) => AT_COMMIT.includes(name));
  if (names.length === 0) return [];
  // A path that is relative is one in each worktree.
  const isInTree = said !== "" && !said.startsWith("/");
  if (isInTree && !(await isFolder(place, base, posix.normalize(said))))
    return [
      of(
        `${names.join(", ")} in ${said} do not run for workers: git does not track that folder, so that their worktrees lack it`,
        "let the setup make it (npm's prepare does), or name what they check as a gate",
        "warning",
      ),
    ];
  const findings = [
    of(
      `the project's ${names.join(", ")} in ${said || "its .git/hooks"} run at each commit of a worker`,
      "they stay on: what they ask for has to be met",
      "note",
    ),
  ];
  for (const name of names) {
    const missing = await missingFor(
      await readText(join(folder, name)).catch(() => ""),
      folder,
      place,
    );
    if (missing.length === 0) continue;
    findings.push(
      of(
        `the hook ${name} reads ${missing.join(", ")}, which git ignores: a worktree has no such file`,
        "let the setup make it, or let the hook do without it where it is not there",
        "warning",
      ),
    );
  }
  return findings;
};

/** Files named in a hook that are in this checkout, and in no other one. */
async function missingFor(text: string, folder: string, { top }: Place): Promise<string[]> {
  const code = text.replace(/^\s*#.*$/gm, "");
  const words =
    code.match(/[\w@.+-]*(?:\/[\w@.+-]+)+|(?<![\w$/-])\.[\w.-]+|[\w-]+\.[\w.-]+/g) ?? [];
  // From the top, where hooks run, or from where the hook lies.
  const bare = words.map((word) => word.replace(/^\/+/, ""));
  const near = bare.flatMap((word) => [word, posix.join(relative(top, folder), word)]);
  const paths = [...new Set(near.map((path) => posix.normalize(path)))].filter(
    (path) => !path.startsWith("..") && existsSync(join(top, path)),
  );
  if (paths.length === 0) return [];
  const ask = ["-c", "core.quotePath=false", "check-ignore", "--", ...paths];
  const { stdout } = await git({ cwd: top, accept: [1, 128] }, ...ask);
  return stdout.split("\n").filter(Boolean);
}
