import { run } from "./cli.ts";
import { guardProcess } from "./program/streams.ts";
import { ownWorld } from "./program/world.ts";

const seen = guardProcess("minion");
void run(process.argv.slice(2), ownWorld).then((exit) => {
  process.exitCode = seen.exit ?? exit;
});
