// Bundles the two programs, each into one file that needs nothing but Node:
// rails/ becomes the plugin's bin/minion, installer/ becomes dist/minion-toolkit.js.
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildDemo } from "./build-demo.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));

async function bundle(entry, outfile) {
  const { metafile } = await build({
    entryPoints: [join(root, entry)],
    outfile: join(root, outfile),
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    target: "node20",
    // CommonJS, since it starts faster and a file without an ending cannot be a module everywhere.
    format: "cjs",
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    metafile: true,
    define: { __VERSION__: JSON.stringify(version) },
    banner: { js: "#!/usr/bin/env node" },
    logLevel: "warning",
  });
  await chmod(join(root, outfile), 0o755);
  // The nearest package.json says what kind of script a file is; the package's own says "module".
  await writeFile(join(root, dirname(outfile), "package.json"), '{ "type": "commonjs" }\n');
  return Object.keys(metafile.inputs);
}

/** The licence of each package whose code is in a bundle: their terms ask for it to go along. */
async function licences(inputs) {
  const names = new Set(
    inputs.flatMap((path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? []),
  );
  const texts = [];
  for (const name of [...names].sort()) {
    const folder = join(root, "node_modules", name);
    const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    let text = "";
    for (const file of ["LICENSE", "LICENSE.md", "license", "LICENCE", "LICENSE.txt"]) {
      text ||= await readFile(join(folder, file), "utf8").catch(() => "");
    }
    texts.push(`${name} ${version} (${license})\n\n${text.trim()}\n`);
  }
  return texts.join(`\n${"-".repeat(72)}\n\n`);
}

await Promise.all(
  ["dist", "assets/bin"].map((path) => rm(join(root, path), { recursive: true, force: true })),
);
await mkdir(join(root, "dist"));
const rails = await bundle("rails/main.ts", "assets/bin/minion");
const installer = await bundle("installer/cli.ts", "dist/minion-toolkit.js");
await writeFile(
  join(root, "dist/THIRD-PARTY-LICENSES.txt"),
  await licences([...rails, ...installer]),
);
await buildDemo(join(root, "dist/demo"));
