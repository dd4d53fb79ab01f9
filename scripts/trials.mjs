// One trial of a prompt: npm run trials -- SCENARIO prompt|control FOLDER. The real client runs it;
// the model is asked in FOLDER/play: `<n>.request` is what it is told, `<n>.reply` what it says, a
// JSON array of {"text"} and {"tool", "input"}.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const folder = mkdtempSync(join(tmpdir(), "minion-trials-"));
const outfile = join(folder, "trial.mjs");
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
await build({
  entryPoints: ["tests/trials/trial.ts"],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
});
await import(pathToFileURL(outfile));
