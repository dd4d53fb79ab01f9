// Lays out what the demo needs in one folder: the sample with zod as one file, the task lists and
// the scripted edits.
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Builds the demo's folder anew. */
export async function buildDemo(folder) {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const name of ["sample", "edits", "tasks.md", "tasks-typed.txt"])
    await cp(join(root, "demo", name), join(folder, name), { recursive: true });
  await vendorZod(join(folder, "sample/vendor/zod"));
}

/** Leaves out the other fifty languages of zod's messages. */
const inEnglish = {
  name: "in-english",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    }));
  },
};

/** zod as a package of one file, so that the sample is installed without a network. */
async function vendorZod(folder) {
  const source = join(root, "node_modules/zod");
  const { name, version, license, homepage } = JSON.parse(
    await readFile(join(source, "package.json"), "utf8"),
  );
  await build({
    stdin: { contents: 'export * from "zod";', resolveDir: root },
    outfile: join(folder, "index.js"),
    bundle: true,
    format: "esm",
    platform: "neutral",
    target: "node20",
    minify: true,
    legalComments: "none",
    logLevel: "warning",
    plugins: [inEnglish],
  });
  const manifest = { name, version, license, homepage, type: "module", exports: "./index.js" };
  await writeFile(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  await cp(join(source, "LICENSE"), join(folder, "LICENSE"));
}

if (argv[1] === fileURLToPath(import.meta.url) && argv[2]) await buildDemo(argv[2]);
