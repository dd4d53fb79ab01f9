import { execFile } from "node:child_process";
import { constants, existsSync, readFileSync } from "node:fs";
import { access, mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { delimiter, join, posix, relative, resolve } from "node:path";
import { promisify } from "node:util";
import type { Blueprint } from "../blueprint/blueprint.ts";
import { cleanEnv, git, gitList, gitText, NO_HOOKS } from "../git/git.ts";
import { commitOf, type Place } from "../git/repository.ts";
import { type Signing, signingAt } from "../git/signing.ts";
import { withGitLock } from "../git/worktree.ts";
import type { Command } from "../journal/shapes.ts";
import { type Finding, finding, type Level } from "../plan/task.ts";
import { Fault } from "../program/fault.ts";
import { readText } from "../program/files.ts";
import { clientIn, enough, NEEDED } from "../program/versions.ts";
import { outside, temporaryFolder } from "../program/world.ts";

/** What a run is to be started with. */
export type Flight = Readonly<{
  place: Place;
  blueprint: Blueprint;
  gates: readonly Command[];
  setup: Command | null;
}>;

/** A check, at a commit. */
type Check = (flight: Flight & { base: string }) => Promise<Finding[]>;

const of = (message: string, hint: string, level: Level = "error"): Finding =>
  finding("preflight", 0, message, hint, level);

/** Looks for whatever would make every worker fail, before one is paid for. It leaves nothing in
 * the repository.
 * @param isTried also makes a worktree as a worker gets it, in which the project's hooks run
 * @returns errors: no worker could do its work; else what a person should know */
export async function preflight(flight: Flight, isTried: boolean): Promise<Finding[]> {
  const base = await commitOf("HEAD", flight.place.top);
  if (base === null) return [];
  const checks: Check[] = [
    client,
    identity,
    signing,
    refNames,
    commands,
    hooks,
    embedded,
    cleanliness,
  ];
  const findings: Finding[] = [];
  for (const check of checks) findings.push(...(await check({ ...flight, base })));
  if (!isTried || findings.some(({ level }) => level === "error")) return findings;
  return [...findings, ...(await worktreeAsGiven({ ...flight, base }))];
}

/** Does the client in whose session this is wake it when a worker ends? */
const client: Check = async () => {
  const version = clientIn(outside().env);
  if (version === null || enough(version, NEEDED.claude)) return [];
  return [
    of(
      `Claude Code ${version} wakes no session when a worker ends: the run would wait for ever`,
      `update it to ${NEEDED.claude} or newer: claude update`,
    ),
  ];
};

/** Can git tell who commits? */
const identity: Check = async ({ place }) => {
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
const signing: Check = ({ place, base }) =>
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

/** Do names of the person's stand where ours are to be? A branch is a file, below which there is
 * no other. */
const refNames: Check = async ({ place }) => {
  const ask = ["show-ref", "--verify", "--quiet", "refs/heads/minion"];
  const { code } = await git({ cwd: place.top, accept: [1, 128] }, ...ask);
  if (code !== 0) return [];
  const hint = "git branch -m 'minion' another-name";
  return [of("there is a branch minion: git can make no minion/… beside it", hint)];
};

/** Can each command be run where it is to run, and does it end? */
const commands: Check = async (flight) => {
  const { place, base, gates, setup, blueprint } = flight;
  const findings: Finding[] = [];
  for (const command of [...gates, ...(setup ? [setup] : [])]) {
    const { name, cwd, run } = command;
    const what = `${name} (${run})`;
    const inside = posix.normalize(cwd || ".");
    if (inside.startsWith("..") || inside.startsWith("/") || !(await isFolder(place, base, inside)))
      findings.push(
        of(`${what} is to run in ${cwd}, which is no folder at HEAD`, "commit it, or mend cwd:"),
      );
    const program = programOf(run);
    if (program && !(await isOnPath(program)))
      findings.push(
        of(
          `${what}: there is no ${program} on PATH`,
          `install ${program}, or name another command`,
        ),
      );
    const whole = [run, ...wordsBehind(run, join(place.top, cwd))];
    for (const { commands: patterns, way, ends } of blueprint.endless) {
      const like = patterns.map((pattern) => new RegExp(pattern));
      const found = whole.find((one) => like.some((pattern) => pattern.test(one)));
      if (!found) continue;
      const why = found === run ? "" : `: it runs «${found}»`;
      const fate = ends ? "watches unless CI is set, as it is here" : "does not end by itself";
      findings.push(of(`${what} ${fate}${why}`, way, ends ? "note" : "error"));
      break;
    }
  }
  return findings;
};

const isFolder = async ({ top }: Place, base: string, path: string): Promise<boolean> => {
  const where = path === "." ? `${base}^{tree}` : `${base}:${path.replace(/\/$/, "")}`;
  const { stdout } = await git({ cwd: top, accept: [1, 128] }, "cat-file", "-t", where);
  // A submodule is a commit there.
  return ["tree", "commit"].includes(stdout.trim());
};

/** Words that a shell knows itself, or that open something of which the program is not told here. */
const BUILT_IN =
  /^([:[{(]|\[\[|alias|break|case|cd|command|continue|echo|eval|exec|exit|export|false|for|function|if|printf|pwd|read|return|set|shift|source|test|time|trap|true|type|ulimit|umask|unset|until|wait|while|\.)$/;

/** The program that a command starts first; empty where that is not plain, or is a path. */
function programOf(run: string): string {
  const words = run
    .trim()
    .replace(/^(!\s+)?(\w+=[^\s"'$`]*\s+)*/, "")
    .split(/[\s;&|()<>]+/);
  const [first = ""] = words;
  return /^[\w][\w.+-]*$/.test(first) && !BUILT_IN.test(first) ? first : "";
}

async function isOnPath(program: string): Promise<boolean> {
  const folders = (cleanEnv().PATH ?? "").split(delimiter).filter(Boolean);
  for (const folder of folders) {
    const file = join(folder, program);
    if (
      await access(file, constants.X_OK).then(
        () => stat(file).then((it) => it.isFile()),
        () => false,
      )
    )
      return true;
  }
  return false;
}

/** How deep a script is followed into scripts that it runs. */
const DEPTH = 5;

/** What stands behind a command: the scripts of package.json, recipes and targets that it calls. */
function wordsBehind(run: string, cwd: string, depth = 0): string[] {
  if (depth === DEPTH) return [];
  const found: string[] = [];
  const scripts = scriptsAt(cwd);
  const call = /\b(?:npm|pnpm|yarn|bun)\s+(?:(?:run|run-script|-\S+)\s+)*([\w:.-]+)/g;
  for (const [, name = ""] of run.matchAll(call)) {
    const script = scripts.get(name === "t" ? "test" : name);
    if (script) found.push(script);
  }
  for (const [, tool = "", name = ""] of run.matchAll(/\b(just|make)\s+([\w-]+)/g))
    found.push(
      ...recipeOf(
        cwd,
        tool === "just"
          ? ["justfile", "Justfile", ".justfile"]
          : ["Makefile", "makefile", "GNUmakefile"],
        name,
      ),
    );
  return found.flatMap((one) => [one, ...wordsBehind(one, cwd, depth + 1)]);
}

function scriptsAt(cwd: string): Map<string, string> {
  try {
    const { scripts } = JSON.parse(readFileSync(join(cwd, "package.json"), "utf8"));
    const all = Object.entries(Object(scripts));
    return new Map(all.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
  } catch {
    return new Map();
  }
}

function recipeOf(cwd: string, files: readonly string[], name: string): string[] {
  const file = files.map((one) => join(cwd, one)).find(existsSync);
  if (!file) return [];
  const lines = textAt(file).split("\n");
  const head = lines.findIndex((line) => line.startsWith(name) && /^[\w-]+[^=]*:(?!=)/.test(line));
  if (head < 0) return [];
  const rest = lines.slice(head + 1);
  const end = rest.findIndex((line) => line.trim() !== "" && !/^\s/.test(line));
  return (end < 0 ? rest : rest.slice(0, end)).map((line) => line.trim().replace(/^[@-]+/, ""));
}

const textAt = (file: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
};

/** Hooks that take part in a worker's commit. */
const AT_COMMIT = ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"];

/** Which of the project's hooks run at a worker's commit, and which cannot? */
const hooks: Check = async ({ place, base }) => {
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

/** Repositories within the repository that are neither submodules nor ignored: of one without a
 * commit git can make no entry, and `git add -A` fails. */
const embedded: Check = async ({ place: { top } }) => {
  const others = ["ls-files", "-z", "--others", "--exclude-standard", "--directory"];
  const folders = (await gitList(top, ...others)).filter((path) => path.endsWith("/"));
  const found: string[] = [];
  for (const folder of folders)
    if (existsSync(join(top, folder, ".git")) && !(await commitOf("HEAD", join(top, folder))))
      found.push(folder);
  if (found.length === 0) return [];
  return [
    of(
      `${found.join(", ")} is a repository of its own without a commit: git add -A fails over it`,
      "commit something in it, ignore it, or move it away",
      "warning",
    ),
  ];
};

/** Do files differ from what is committed as soon as they are checked out? */
const cleanliness: Check = ({ place, base }) =>
  inScratch(async (folder) => {
    const tree = join(folder, "tree");
    await mkdir(tree);
    const at = (index: string) => ({
      cwd: tree,
      env: { GIT_DIR: place.gitDir, GIT_WORK_TREE: tree, GIT_INDEX_FILE: join(folder, index) },
    });
    try {
      await git(at("made"), "read-tree", "-m", "-u", base);
      // An index that knows no times: every file is read again.
      await git(at("read"), "read-tree", base);
      await git({ ...at("read"), accept: [1] }, "update-index", "-q", "--refresh");
      const changed = await gitList(
        at("read"),
        "diff-files",
        "--name-only",
        "-z",
        "--ignore-submodules",
      );
      return changed.length > 0 ? [unclean(changed)] : [];
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return [of(`HEAD cannot be checked out: ${error.message}`, error.hint)];
    }
  });

function unclean(paths: readonly string[]): Finding {
  const more = paths.length > 3 ? ` and ${paths.length - 3} more` : "";
  return of(
    `${paths.slice(0, 3).join(", ")}${more}: changed as soon as checked out, since what is ` +
      "committed is not what .gitattributes or core.autocrlf make of it: no worktree is ever clean",
    'git add --renormalize . && git commit -m "chore: renormalize", or mend .gitattributes',
  );
}

/** Makes a worktree as the client makes one, with the project's hooks. */
const worktreeAsGiven: Check = ({ place, base }) =>
  inScratch(async (folder) => {
    const path = join(folder, "worktree");
    return withGitLock(place, async () => {
      try {
        await git(place.top, "worktree", "add", "--quiet", "--detach", path, base);
        const left = await gitText(path, "status", "--porcelain", "--untracked-files=normal");
        if (left === "") return [];
        const [first = ""] = left.split("\n");
        const what = `a fresh worktree is not clean (${first.slice(3)}): post-checkout changes it`;
        return [of(what, "let the hook leave files alone, or ignore what it makes")];
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        const what = `git can make no worktree as a worker gets one: ${error.message}`;
        return [of(what, "mend the hook post-checkout, if there is one, or what git names")];
      } finally {
        const remove = ["worktree", "remove", "--force", "--force", path];
        await git({ cwd: place.top, accept: [1, 128] }, ...NO_HOOKS, ...remove);
      }
    });
  });

async function inScratch<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(temporaryFolder(), "minion-preflight-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
