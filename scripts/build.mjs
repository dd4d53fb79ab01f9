// Bundles the two programs, so that they need nothing but Node: rails/ becomes the plugin's
// bin/minion, installer/ becomes dist/minion-toolkit.js. What is not always wanted, or by both,
// lies in bin/lib/, in parts that are loaded where they are needed: what is not read costs no
// time at the start.
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import { buildDemo } from "./build-demo.mjs";
import { pageParts } from "./page.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));

/** What is run, by where esbuild puts it. */
const PROGRAMS = {
  "assets/bin/minion.js": "assets/bin/minion",
  "dist/minion-toolkit.js": "dist/minion-toolkit.js",
};
const LIBRARY = "assets/bin/lib";

/** gray-matter asks for js-yaml even where it is given another parser, as it always is here. */
const withoutJsYaml = {
  name: "without-js-yaml",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^js-yaml$/ }, ({ path }) => ({ path, namespace: "unused" }));
    onLoad({ filter: /.*/, namespace: "unused" }, () => ({
      contents: `const unused = () => { throw new Error("js-yaml is not part of this program"); };
        export { unused as safeLoad, unused as safeDump };`,
    }));
  },
};

/** Writes the programs and their parts. @returns the paths of all that is in them */
async function bundle() {
  const page = await pageParts();
  const { metafile, outputFiles } = await build({
    entryPoints: [
      { in: "rails/main.ts", out: "assets/bin/minion" },
      { in: "installer/cli.ts", out: "dist/minion-toolkit" },
    ],
    outdir: root,
    chunkNames: `${LIBRARY}/[hash]`,
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    format: "esm", // The only one that esbuild splits
    platform: "node",
    target: "node20",
    minify: true,
    legalComments: "none",
    metafile: true,
    write: false,
    define: { __VERSION__: JSON.stringify(version), ...page.define },
    plugins: [withoutJsYaml],
    logLevel: "warning",
  });
  const names = partNames(metafile.outputs);
  for (const { path, text } of outputFiles) {
    const made = relative(root, path).replaceAll("\\", "/");
    const code = await asCommonJs(
      text.replace(/[A-Z0-9]{8}(?=\.js")/g, (hash) => names.get(hash) ?? hash),
    );
    const program = PROGRAMS[made];
    const file = join(root, program ?? `${LIBRARY}/${names.get(hashOf(made))}.js`);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, program ? `#!/usr/bin/env node\n${code}` : code);
    if (program) await chmod(file, 0o755);
  }
  return [...new Set([...Object.keys(metafile.inputs), ...page.inputs])];
}

const hashOf = (output) => /([A-Z0-9]{8})\.js$/.exec(output)?.[1];

/** What each part is called, by the hash that stands for it: as the file that is asked for, or as
 * the largest one in it with the word «shared». A name stays where only what is in the part changes. */
function partNames(outputs) {
  const names = new Map();
  for (const [output, part] of Object.entries(outputs)) {
    if (PROGRAMS[output]) continue;
    const name = nameOf(part);
    if ([...names.values()].includes(name)) throw new Error(`two parts would be called ${name}`);
    names.set(hashOf(output), name);
  }
  return names;
}

function nameOf({ entryPoint, inputs }) {
  const sizeOf = (path) => inputs[path].bytesInOutput;
  const [largest] = Object.keys(inputs).sort((a, b) => sizeOf(b) - sizeOf(a));
  const file = entryPoint ?? largest;
  if (file === undefined) return "esbuild"; // Its own helpers
  const path = file.replace(/^(?:rails|node_modules)\//, "").replace(/\.[cm]?[jt]s$/, "");
  // A file that is asked for late and by others at once is a part that only hands on another one.
  return path.replaceAll("/", "-") + (entryPoint ? "" : "-shared");
}

/** CommonJS starts faster, and a file without an ending cannot be a module everywhere. */
async function asCommonJs(code) {
  const supported = { "dynamic-import": false }; // It becomes a require() where it stands
  const options = { format: "cjs", platform: "node", target: "node20", minify: true, supported };
  return (await transform(code, options)).code;
}

/** The licence of each package whose code is in a bundle: their terms ask for it to go along. */
async function licences(inputs) {
  const folders = new Set(
    inputs.flatMap((path) => path.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? []),
  );
  const texts = [];
  for (const path of folders) {
    const folder = join(root, path);
    const { name, version, license } = JSON.parse(
      await readFile(join(folder, "package.json"), "utf8"),
    );
    let text = "";
    for (const file of ["LICENSE", "LICENSE.md", "license", "LICENCE", "LICENSE.txt"]) {
      text ||= await readFile(join(folder, file), "utf8").catch(() => "");
    }
    texts.push(`${name} ${version} (${license})\n\n${text.trim()}\n`);
  }
  return texts.sort().join(`\n${"-".repeat(72)}\n\n`);
}

await Promise.all(
  ["dist", "assets/bin"].map((path) => rm(join(root, path), { recursive: true, force: true })),
);
const inputs = await bundle();
// The nearest package.json says what kind of script a file is; the package's own says "module".
for (const folder of ["dist", "assets/bin"])
  await writeFile(join(root, folder, "package.json"), '{ "type": "commonjs" }\n');
await writeFile(join(root, "dist/THIRD-PARTY-LICENSES.txt"), await licences(inputs));
await buildDemo(join(root, "dist/demo"));
