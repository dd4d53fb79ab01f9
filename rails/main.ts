import { run } from "./cli.ts";
import { ownWorld } from "./program/world.ts";

void run(process.argv.slice(2), ownWorld).then((exit) => {
  process.exitCode = exit;
});
