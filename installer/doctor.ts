import { realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { enough, NEEDED } from "../rails/program/versions.ts";
import { askPlugins, findClaude, run, versionOf } from "./claude.ts";
import { type Code, type Finding, finding } from "./finding.ts";
import { pagesIn, replacedBy } from "./pages.ts";
import {
  findRoot,
  onPath,
  type Root,
  type RootFlags,
  repositoryOf,
  type Surroundings,
} from "./paths.ts";
import { exists, jsonIn, listIn, pluginsIn, scanDisk, twinsIn } from "./scan.ts";
import traps from "./traps.json" with { type: "json" };

const MANAGED: Partial<Record<NodeJS.Platform, string>> = {
  darwin: "/Library/Application Support/ClaudeCode",
  win32: "C:\\Program Files\\ClaudeCode",
};

type Add = (code: Code, file?: string, values?: object) => void;

/** Looks at everything that an installation hangs on, and writes nothing into the root.
 * @param version this program's
 * @returns where it looked and why there, the installed version or null, the tools' versions, and
 *   what is wrong */
export async function diagnose(flags: RootFlags, version: string, at: Surroundings) {
  const findings: Finding[] = [];
  const add: Add = (code, file = "", values = {}) =>
    void findings.push(finding(code, file, values));
  const place = findRoot(flags, at);
  const { root, why, literal } = place;
  if (literal !== undefined) add("config-dir", "", { value: literal, root });
  const client = findClaude(at);
  const tools = await toolsAt(client, at);
  checkTools(tools, add);
  const installed = checkFiles(place, version, findings, add);
  if (installed !== null) await checkRails(place, installed, at, add);
  const skills = join(place.target, "skills");
  findings.push(
    ...(await pagesIn(join(root, "minion"))),
    ...(installed === null ? [] : await pagesIn(skills, true)),
  );
  if (installed !== null && client) await checkLoaded(place, flags, at, client, add);
  checkSettings(root, add);
  const repository = repositoryOf(at.cwd);
  const own = join(repository, ".claude");
  if (own !== root) {
    findings.push(...(await pagesIn(join(own, "minion"))));
    findings.push(...twinsIn(own));
    const twin = join(own, "skills/minion");
    if (exists(twin)) add("twin-skill", twin);
  }
  if (installed !== null)
    findings.push(...(await replacedBy(skills, [join(root, "minion"), join(own, "minion")])));
  if (tools.git !== null) await checkRepository(repository, at, add);
  return { root, why, installed, tools, findings };
}

/** The versions of what is needed; null where it is not there. */
type Tools = Readonly<Record<keyof typeof NEEDED, string | null>>;

async function toolsAt(client: string | undefined, at: Surroundings): Promise<Tools> {
  const [git, claude] = await Promise.all([
    versionOf("git", at),
    client ? versionOf(client, at) : undefined,
  ]);
  return { node: process.versions.node, git: git ?? null, claude: claude ?? null };
}

function checkTools(tools: Tools, add: Add): void {
  for (const [code, needed] of Object.entries(NEEDED) as [keyof typeof NEEDED, string][]) {
    const version = tools[code];
    if (version === null) add(`no-${code}` as Code, "", { needed });
    else if (!enough(version, needed)) add(code, "", { version, needed });
  }
}

/** Does the installed `minion` run, and is it the one that a session finds? */
async function checkRails(
  { target }: Root,
  installed: string,
  at: Surroundings,
  add: Add,
): Promise<void> {
  const program = join(target, "bin", "minion");
  const { ok } = await run(process.execPath, [program, "--version"], at);
  if (!ok) add("rails", program);
  // The plugin's own bin folder comes last on the PATH of a session.
  const isOther = (path: string): boolean =>
    !path.startsWith(target + sep) && !isOfPackage(path, installed);
  const other = onPath("minion", at.env).find(isOther);
  if (other !== undefined) add("shadowed", other);
}

/** Is a program on PATH the same, of this package, as npm links it there? */
function isOfPackage(path: string, installed: string): boolean {
  const { name, version } = jsonIn(join(dirname(realpathSync(path)), "../../package.json"));
  return name === "minion-toolkit" && version === installed;
}

/** Settings that keep the plugin or its hooks from loading. */
function checkSettings(root: string, add: Add): void {
  const managed = join(MANAGED[process.platform] ?? "/etc/claude-code", "managed-settings.json");
  const { strictKnownMarketplaces: only, blockedMarketplaces: blocked } = jsonIn(managed);
  const namesOurs = (list: unknown): boolean =>
    Array.isArray(list) && list.some(({ source }) => source === "skills-dir");
  if ((only && !namesOurs(only)) || namesOurs(blocked)) add("managed", managed);
  for (const file of [managed, join(root, "settings.json")])
    if (jsonIn(file).disableAllHooks === true) add("hooks-off", file);
}

/** Compares the installation with its manifest.
 * @param findings takes those on twins
 * @returns the installed version, null where there is none */
function checkFiles(place: Root, version: string, findings: Finding[], add: Add): string | null {
  const { target } = place;
  const { manifest, entries, broken, leftover, twins } = scanDisk(place);
  if (leftover) add("leftover", target);
  const [name] = pluginsIn(place.root);
  const isOnlyThere = name !== undefined && !manifest && !broken;
  findings.push(...twins.filter(({ code }) => !isOnlyThere || code !== "twin-plugin"));
  if (broken) add("manifest", target);
  else if (isOnlyThere) add("by-marketplace", listIn(place.root), { name });
  else if (!manifest) add("not-installed", target);
  if (!manifest) return null;
  const { files } = manifest;
  for (const [path, hash] of Object.entries(files))
    if (entries.get(path)?.hash !== hash)
      add(entries.has(path) ? "edited" : "missing", join(target, path));
  for (const [path, { kind }] of entries)
    if (kind !== "folder" && files[path] === undefined) add("foreign", join(target, path));
  if (manifest.package !== version)
    add("version", target, { before: manifest.package, after: version });
  return manifest.package;
}

/** Does Claude Code load the plugin? */
async function checkLoaded(
  place: Root,
  flags: RootFlags,
  at: Surroundings,
  client: string,
  add: Add,
): Promise<void> {
  const { root, target: path } = place;
  const plugins = await askPlugins(client, root, flags.dir !== undefined, at);
  const ours = plugins?.find(({ id }) => id === "minion@skills-dir");
  if (!plugins) add("not-asked");
  else if (!ours) add(flags.scope === "project" ? "not-trusted" : "not-loaded", path);
  else if (!ours.enabled) add("disabled", path);
  else if (ours.errors?.length)
    add("load-errors", path, { errors: ours.errors.map(String).join("; "), path });
}

/** What in a repository surprises workers that run in worktrees of it. */
async function checkRepository(top: string, at: Surroundings, add: Add): Promise<void> {
  const ask = (git: string[]) => run("git", ["--no-optional-locks", "-C", top, ...git], at);
  if ((await ask(["rev-parse", "--is-inside-work-tree"])).stdout.trim() !== "true") return;
  const answers = await Promise.all(traps.map(({ git }) => ask(git)));
  for (const [index, { code, is }] of traps.entries()) {
    const value = answers[index]?.stdout.trim() ?? "";
    if (new RegExp(is).test(value)) add(code as Code, top, { value });
  }
}
