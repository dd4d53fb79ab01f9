import { readFileSync } from "node:fs";
import { join, sep } from "node:path";
import type { Command } from "commander";
import { EXIT } from "../rails/fault.ts";
import { askPlugins, CLAUDE_NEEDED, enough, findClaude, run, versionOf } from "./claude.ts";
import { type Code, type Finding, finding } from "./finding.ts";
import { type Context, withPlace } from "./options.ts";
import { print, printFindings, printJson } from "./output.ts";
import { findPlace, here, onPath, type Place, type RootFlags, repositoryOf, type Surroundings } from "./paths.ts";
import { exists, looseTwins, scanDisk } from "./scan.ts";

const NEEDED = { node: "20.12", git: "2.31", claude: CLAUDE_NEEDED };

export interface Diagnosis {
  readonly version: 1;
  readonly root: string;
  readonly why: string;
  readonly installed: string | null;
  readonly tools: Record<keyof typeof NEEDED, string | null>;
  readonly findings: readonly Finding[];
}

type Add = (code: Code, file?: string, values?: Record<string, unknown>) => void;

/** `minion-toolkit doctor` */
export function doctor(program: Command, context: Context): void {
  withPlace(program.command("doctor"))
    .description("say what is installed, whether it works, and what to do where it does not")
    .action(async (flags: RootFlags & { json?: boolean }) => {
      const result = await diagnose(flags, context.version, here());
      const { root, why, installed, tools, findings } = result;
      if (flags.json) printJson(result);
      else {
        print(`root    ${root} (${why})\nminion  ${installed ?? "not installed"}`);
        print(`tools   Node ${tools.node}, git ${tools.git ?? "none"}, Claude Code ${tools.claude ?? "none"}`);
        printFindings(findings);
        if (findings.length === 0) print("all is well: type /minion in Claude Code");
      }
      process.exitCode = findings.some(({ level }) => level !== "note") ? EXIT.refused : EXIT.done;
    });
}

/**
 * Looks at everything that an installation hangs on, and writes nothing into the root.
 * @param version this program's
 * @throws Fault as `findPlace` and `scanDisk` do
 */
export async function diagnose(flags: RootFlags, version: string, at: Surroundings): Promise<Diagnosis> {
  const findings: Finding[] = [];
  const add: Add = (code, file = "", values = {}) => void findings.push(finding(code, file, values));
  const place = findPlace(flags, at);
  if (place.literal !== undefined) add("config-dir", "", { value: place.literal, root: place.root });
  const client = findClaude(at);
  const [git = null, claude = null] = await Promise.all([versionOf("git", at), client && versionOf(client, at)]);
  const tools = { node: process.versions.node, git, claude: claude || null };
  for (const [code, needed] of Object.entries(NEEDED) as [keyof typeof NEEDED, string][]) {
    const version = tools[code];
    if (version === null) add(`no-${code as "git"}`, "", { needed });
    else if (!enough(version, needed)) add(code, "", { version, needed });
  }
  const installed = checkFiles(place, version, add);
  if (installed !== null) await checkPrograms(place, at, add);
  if (installed !== null && client) await checkLoaded(place, flags, at, client, add);
  checkSettings(place, add);
  const repository = repositoryOf(at.cwd);
  if (git !== null && exists(join(repository, ".git"))) await checkRepository(repository, place, at, add);
  return { version: 1, root: place.root, why: place.why, installed, tools, findings };
}

/** Compares the installation with its manifest; gives the installed version, null where there is none. */
function checkFiles(place: Place, version: string, add: Add): string | null {
  const { target } = place;
  const { manifest, entries, broken, leftover, twins } = scanDisk(place);
  if (leftover) add("leftover", target);
  for (const { kind, name, path } of twins) add(`twin-${kind}`, path, { name });
  if (broken) add("manifest", target, { why: broken.message });
  else if (!manifest) add("not-installed", target);
  if (!manifest) return null;
  const { files } = manifest;
  for (const [path, hash] of Object.entries(files))
    if (entries.get(path)?.hash !== hash) add(entries.has(path) ? "edited" : "missing", join(target, path));
  for (const [path, { kind }] of entries)
    if (kind !== "folder" && files[path] === undefined) add("foreign", join(target, path));
  if (manifest.package !== version) add("version", target, { before: manifest.package, after: version });
  return manifest.package;
}

async function checkPrograms({ target }: Place, at: Surroundings, add: Add): Promise<void> {
  const program = join(target, "bin", "minion");
  if ((await run(process.execPath, [program, "--version"], at))?.code !== 0) add("rails", program);
  // The plugin's own bin folder comes last on the PATH of a session.
  const other = onPath("minion", at.env).find((path) => !path.startsWith(target + sep));
  if (other !== undefined) add("shadowed", other);
}

async function checkLoaded(place: Place, flags: RootFlags, at: Surroundings, client: string, add: Add): Promise<void> {
  const plugins = await askPlugins(client, place.root, flags.dir !== undefined, at);
  const ours = plugins?.find(({ id }) => id === "minion@skills-dir");
  const { target: path } = place;
  if (!plugins) add("not-asked");
  else if (!ours) add(flags.scope === "project" ? "not-trusted" : "not-loaded", path);
  else if (!ours.enabled) add("disabled", path);
  else if (ours.errors?.length) add("load-errors", path, { errors: ours.errors.map(String).join("; "), path });
}

/** Settings that keep the plugin or its hooks from loading. They are read, never written. */
function checkSettings({ root }: Place, add: Add): void {
  const folders: Partial<Record<NodeJS.Platform, string>> = {
    darwin: "/Library/Application Support/ClaudeCode",
    win32: "C:\\Program Files\\ClaudeCode",
  };
  const managed = join(folders[process.platform] ?? "/etc/claude-code", "managed-settings.json");
  for (const file of [managed, join(root, "settings.json")].filter(exists)) {
    try {
      const settings = JSON.parse(readFileSync(file, "utf8").replace(/^\uFEFF/, ""));
      const { strictKnownMarketplaces: only, blockedMarketplaces: blocked = [] } = settings;
      const names = (list: { source?: string }[]): boolean => list.some(({ source }) => source === "skills-dir");
      // These two count in managed settings only.
      if (file === managed && ((only && !names(only)) || names(blocked))) add("managed", file);
      for (const key of ["disableAllHooks", "allowManagedHooksOnly"])
        if (settings[key] === true) add("hooks-off", file, { key });
    } catch (error) {
      add("settings", file, { why: (error as Error).message.split("\n")[0] });
    }
  }
}

/** What in a repository surprises workers that run in worktrees of it. */
async function checkRepository(top: string, { root }: Place, at: Surroundings, add: Add): Promise<void> {
  const git = async (...args: string[]): Promise<string> => {
    const asked = await run("git", ["--no-optional-locks", "-C", top, ...args], at);
    return asked?.code === 0 ? asked.stdout.trim() : "";
  };
  const own = join(top, ".claude");
  const loose = own === root ? [] : looseTwins(own);
  for (const { kind, name, path } of loose) add(`twin-${kind}`, path, { name });
  if (own !== root && exists(join(own, "skills/minion"))) add("twin-skill", join(own, "skills/minion"));
  const [inside, head, remote, hooks, signing, lfs] = await Promise.all([
    git("rev-parse", "--is-inside-work-tree"),
    git("rev-parse", "--verify", "HEAD"),
    git("rev-parse", "--verify", "refs/remotes/origin/HEAD"),
    git("config", "core.hooksPath"),
    git("config", "--type=bool", "commit.gpgsign"),
    git("lfs", "version"),
  ]);
  if (inside !== "true") return;
  const attributes = join(top, ".gitattributes");
  if (head === "") add("no-commits", top);
  if (remote !== "" && remote !== head) add("base", top);
  if (hooks !== "") add("hooks-path", top, { path: hooks });
  if (exists(join(top, ".gitmodules"))) add("submodules", top);
  if (lfs === "" && exists(attributes) && readFileSync(attributes, "utf8").includes("filter=lfs")) add("lfs", top);
  if (signing === "true") add("signing", top);
}
