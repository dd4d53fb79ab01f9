// Prints what minion-toolkit costs, as a table. Call with names of benches to run only those.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as made from "./bench/areas.mjs";
import * as pages from "./bench/page.mjs";
import * as plans from "./bench/plan.mjs";
import * as rails from "./bench/rails.mjs";
import * as long from "./bench/slots.mjs";
import { against } from "./bench/times.mjs";

const ROUNDS = 3;
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const exec = promisify(execFile);

/** Each is given a folder of its own and the packed tarball, and gives rows of the table. More are
 * welcome. */
const BENCHES = { size, coldStart, ...rails, ...plans, ...made };
/** Those that take minutes, or want a browser: run by name only. */
const ALL = { ...BENCHES, ...long, ...pages };

/** What `npm i` of the tarball lays on the disk. */
async function size(folder, tarball) {
  await writeFile(join(folder, "package.json"), "{}");
  await npm(
    ["install", "--offline", "--no-audit", "--no-fund", tarball],
    folder,
    join(folder, "cache"),
  );
  const packages = (await readdir(join(folder, "node_modules"))).filter(
    (name) => !name.startsWith("."),
  );
  const files = await filesBelow(join(folder, "node_modules/minion-toolkit"));
  const bytes = await Promise.all(files.map(async (file) => (await stat(file)).size));
  const { dependencies = {} } = JSON.parse(
    await readFile(join(folder, "node_modules/minion-toolkit/package.json"), "utf8"),
  );
  return [
    ["packed size", `${(await stat(tarball)).size} bytes`],
    ["installed size", `${bytes.reduce((sum, each) => sum + each, 0)} bytes`],
    ["installed files", files.length],
    ["dependencies, direct", Object.keys(dependencies).length],
    ["dependencies, in all", packages.length - 1],
  ];
}

/** `npx` of the tarball against `npx` of a package that does nothing, each time with an empty
 * cache; the median of each. */
async function coldStart(folder, tarball) {
  const nothing = join(folder, "nothing");
  await mkdir(nothing);
  await writeFile(
    join(nothing, "package.json"),
    '{ "name": "nothing", "version": "1.0.0", "bin": "nothing.js" }\n',
  );
  await writeFile(join(nothing, "nothing.js"), "#!/usr/bin/env node\n");
  const empty = await pack(nothing, folder);
  let caches = 0;
  const ours = [
    "cold npx, minion-toolkit",
    () => npxOf(tarball, "minion-toolkit", folder, caches++),
  ];
  return against(
    ours,
    ["cold npx, empty package", () => npxOf(empty, "nothing", folder, caches++)],
    ROUNDS,
  );
}

const npxOf = (tarball, program, folder, name) =>
  npm(
    ["exec", "--offline", "--yes", `--package=${tarball}`, "--", program, "--version"],
    folder,
    join(folder, `cache${name}`),
  );

const npm = (args, cwd, cache) =>
  exec("npm", args, {
    cwd,
    env: { ...process.env, npm_config_cache: cache, npm_config_update_notifier: "false" },
  });

/** Packs a package as it stands, without its scripts; gives the tarball's path. */
async function pack(from, to) {
  const { stdout } = await exec(
    "npm",
    ["pack", "--ignore-scripts", "--json", "--pack-destination", to],
    { cwd: from },
  );
  return join(to, JSON.parse(stdout)[0].filename);
}

async function filesBelow(folder) {
  const entries = await readdir(folder, { withFileTypes: true });
  const lists = entries.map((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
  return (await Promise.all(lists)).flat();
}

const unknown = argv.slice(2).find((name) => !ALL[name]);
if (unknown !== undefined) {
  console.error(`bench: there is no ${unknown}\n  → there are ${Object.keys(ALL).join(", ")}`);
  exit(2);
}
const folder = await mkdtemp(join(tmpdir(), "minion-bench-"));
try {
  const tarball = await pack(root, folder);
  const names = argv.length > 2 ? argv.slice(2) : Object.keys(BENCHES);
  const rows = [];
  for (const name of names) {
    await mkdir(join(folder, name));
    rows.push(...(await ALL[name](join(folder, name), tarball)));
  }
  const width = Math.max(...rows.map(([what]) => what.length));
  for (const [what, value] of rows)
    console.log(`${what.padEnd(width)}  ${String(value).padStart(14)}`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
