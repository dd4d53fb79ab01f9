// Runs one verb and kills its own process before the given effect; prints how many effects there
// are.
import { change } from "../../../installer/change.ts";
import type { Verb } from "../../../installer/plan.ts";

const [, , verb, dir, assets, killAt, twoRenames, force] = process.argv as string[];
let effects = 0;
const step = (): void => {
  if (++effects === Number(killAt)) process.kill(process.pid, "SIGKILL");
};
const at = { env: {}, cwd: dir ?? "", home: dir ?? "" };
const exchange = twoRenames === "yes" ? { exchange: () => false } : {};
void main();

async function main(): Promise<void> {
  await change(
    verb as Verb,
    { dir: dir ?? "", force: force === "yes" },
    { assets: assets ?? "", at, step, ...exchange },
  );
  process.stdout.write(String(effects));
}
