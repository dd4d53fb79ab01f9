import { existsSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import type { Command } from "commander";
import { EXIT } from "../rails/fault.ts";
import { askPlugins, CLAUDE_NEEDED, enough, findClaude, run, versionOf } from "./claude.ts";
import { type Code, type Finding, finding } from "./finding.ts";
import { type Context, withPlace } from "./options.ts";
import { print, printFindings, printJson } from "./output.ts";
import { findPlace, here, onPath, type Place, type RootFlags, repositoryOf, type Surroundings } from "./paths.ts";
import { looseTwins, scanDisk } from "./scan.ts";

const NODE_NEEDED = "20.12";
const GIT_NEEDED = "2.31";

export interface Diagnosis {
  readonly version: 1;
  readonly root: string;
  readonly why: string;
  readonly installed: string | null;
  readonly tools: { readonly node: string; readonly git: string | null; readonly claude: string | null };
  readonly findings: readonly Finding[];
}

type Add = (code: Code, file?: string, values?: Record<string, unknown>) => void;

/** `minion-toolkit doctor` */
export function doctor(program: Command, context: Context): void {
  withPlace(program.command("doctor"))
    .description("say what is installed, whether it works, and what to do where it does not")
    .action(async (flags: RootFlags & { json?: boolean }) => {
      const result = await diagnose(flags, context.version, here());
      if (flags.json) printJson(result);
      else {
        const { node, git, claude } = result.tools;
        print(`root    ${result.root} (${result.why})\nminion  ${result.installed ?? "not installed"}`);
        print(`tools   Node ${node}, git ${git ?? "none"}, Claude Code ${claude ?? "none"}`);
        printFindings(result.findings);
        if (result.findings.length === 0) print("all is well: type /minion in Claude Code");
      }
      process.exitCode = result.findings.some(({ level }) => level !== "note") ? EXIT.refused : EXIT.done;
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
  const claude = findClaude(at);
  const tools = await checkTools(at, claude, add);
  const installed = checkFiles(place, version, add);
  if (installed !== null) await checkPrograms(place, at, add);
  if (installed !== null && claude !== undefined) await checkLoaded(place, flags, at, claude, add);
  checkSettings(place, add);
  if (tools.git !== null) await checkRepository(place, at, add);
  return { version: 1, root: place.root, why: place.why, installed, tools, findings };
}

async function checkTools(at: Surroundings, program: string | undefined, add: Add): Promise<Diagnosis["tools"]> {
  const node = process.versions.node;
  const git = (await versionOf("git", at.env)) ?? null;
  const claude = program === undefined ? null : ((await versionOf(program, at.env)) ?? null);
  if (!enough(node, NODE_NEEDED)) add("node", "", { version: node, needed: NODE_NEEDED });
  if (git === null || !enough(git, GIT_NEEDED))
    add("git", "", { version: git ?? "(none on PATH)", needed: GIT_NEEDED });
  if (claude === null) add("no-claude", "", { needed: CLAUDE_NEEDED });
  else if (!enough(claude, CLAUDE_NEEDED)) add("claude", "", { version: claude, needed: CLAUDE_NEEDED });
  return { node, git, claude };
}

/** Compares the installation with its manifest; gives the installed version, null where there is none. */
function checkFiles(place: Place, version: string, add: Add): string | null {
  const { manifest, entries, broken, leftover, twins } = scanDisk(place);
  if (leftover) add("leftover", place.target);
  for (const { kind, name, path } of twins) add(`twin-${kind}`, path, { name });
  if (broken) add("manifest", "", { why: broken.message });
  else if (!manifest) add("not-installed", place.target);
  if (!manifest) return null;
  for (const [path, hash] of Object.entries(manifest.files)) {
    const entry = entries.get(path);
    if (!entry) add("missing", join(place.target, path));
    else if (entry.kind !== "file" || entry.hash !== hash) add("edited", join(place.target, path));
  }
  for (const [path, { kind }] of entries)
    if (kind !== "folder" && manifest.files[path] === undefined) add("foreign", join(place.target, path));
  if (manifest.package !== version) add("version", place.target, { before: manifest.package, after: version });
  return manifest.package;
}

async function checkPrograms({ target }: Place, { env }: Surroundings, add: Add): Promise<void> {
  const program = join(target, "bin", "minion");
  if ((await run(process.execPath, [program, "--version"], env))?.code !== 0) add("rails", program);
  // The plugin's own bin folder comes last on the PATH of a session.
  const other = onPath("minion", env).find((path) => !path.startsWith(target + sep));
  if (other !== undefined) add("shadowed", other);
}

async function checkLoaded(
  { root, target }: Place,
  flags: RootFlags,
  at: Surroundings,
  claude: string,
  add: Add,
): Promise<void> {
  const plugins = await askPlugins(claude, root, flags.dir !== undefined, at);
  const ours = plugins?.find(({ id }) => id === "minion@skills-dir");
  if (!plugins) add("not-asked");
  else if (!ours) add(flags.scope === "project" ? "not-trusted" : "not-loaded", target);
  else if (!ours.enabled) add("disabled", target);
  else if (ours.errors?.length)
    add("load-errors", target, { errors: ours.errors.map(String).join("; "), path: target });
}

/** Settings that keep the plugin or its hooks from loading. They are read, never written. */
function checkSettings({ root }: Place, add: Add): void {
  const platforms: Partial<Record<NodeJS.Platform, string>> = {
    darwin: "/Library/Application Support/ClaudeCode",
    win32: "C:\\Program Files\\ClaudeCode",
  };
  const managed = join(platforms[process.platform] ?? "/etc/claude-code", "managed-settings.json");
  for (const file of [managed, join(root, "settings.json")]) {
    const settings = settingsIn(file, add);
    const names = (list: unknown): boolean => Array.isArray(list) && list.some((item) => item?.source === "skills-dir");
    const { strictKnownMarketplaces: strict, blockedMarketplaces: blocked } = settings;
    // These two count in managed settings only.
    if (file === managed && ((strict !== undefined && !names(strict)) || names(blocked))) add("managed", file);
    for (const key of ["disableAllHooks", "allowManagedHooksOnly"])
      if (settings[key] === true) add("hooks-off", file, { key });
  }
}

function settingsIn(file: string, add: Add): Record<string, unknown> {
  try {
    return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8").replace(/^\uFEFF/, "")) ?? {}) : {};
  } catch (error) {
    add("settings", file, { why: (error as Error).message.split("\n")[0] });
    return {};
  }
}

/** What in a repository surprises workers that run in worktrees of it. */
async function checkRepository(place: Place, { cwd, env }: Surroundings, add: Add): Promise<void> {
  const top = repositoryOf(cwd);
  const git = async (...args: string[]): Promise<string> => {
    const asked = await run("git", ["--no-optional-locks", ...args], env, top);
    return asked?.code === 0 ? asked.stdout.trim() : "";
  };
  if ((await git("rev-parse", "--is-inside-work-tree")) !== "true") return;
  const own = join(top, ".claude");
  if (own !== place.root) {
    for (const { kind, name, path } of looseTwins(own)) add(`twin-${kind}`, path, { name });
    if (existsSync(join(own, "skills/minion"))) add("twin-skill", join(own, "skills/minion"));
  }
  const head = await git("rev-parse", "--verify", "HEAD");
  const remote = await git("rev-parse", "--verify", "refs/remotes/origin/HEAD");
  const hooks = await git("config", "core.hooksPath");
  const attributes = join(top, ".gitattributes");
  const lfs = existsSync(attributes) && readFileSync(attributes, "utf8").includes("filter=lfs");
  if (head === "") add("no-commits", top);
  if (remote !== "" && remote !== head) add("base", top);
  if (hooks !== "") add("hooks-path", top, { path: hooks });
  if (existsSync(join(top, ".gitmodules"))) add("submodules", top);
  if (lfs && (await git("lfs", "version")) === "") add("lfs", top);
  if ((await git("config", "--type=bool", "commit.gpgsign")) === "true") add("signing", top);
}
