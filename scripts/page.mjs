// The script and the style of the page of a run, from rails/view/page/browser/: what a page has
// within itself.
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";

const folder = join(dirname(fileURLToPath(import.meta.url)), "../rails/view/page/browser");
const TARGET = ["es2022", "chrome109", "firefox115", "safari16"];

/** What stands for both in the program, as a bundler's `define` has it; `inputs`: the paths of all
 * that is in them. */
export async function pageParts() {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(folder, "client.ts")],
    absWorkingDir: join(folder, "../../../.."),
    bundle: true,
    format: "iife",
    platform: "browser",
    target: TARGET,
    minify: true,
    legalComments: "none",
    metafile: true,
    write: false,
    logLevel: "warning",
  });
  const source = await readFile(join(folder, "style.css"), "utf8");
  const style = await transform(source, { loader: "css", minify: true, target: TARGET });
  return {
    define: {
      __PAGE_SCRIPT__: JSON.stringify(outputFiles[0].text.trim()),
      __PAGE_STYLE__: JSON.stringify(style.code.trim()),
    },
    inputs: Object.keys(metafile.inputs),
  };
}
