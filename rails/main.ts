import { run } from "./cli.ts";
import { EXIT } from "./program/fault.ts";
import { guardProcess } from "./program/streams.ts";
import { ownWorld } from "./program/world.ts";

const argv = process.argv.slice(2);
// A broken rail must not break a session, in which a hook's exit code counts.
const seen = guardProcess("minion", argv[0] === "hook" ? EXIT.done : EXIT.writing);
void run(argv, ownWorld).then((exit) => {
  process.exitCode = seen.exit ?? exit;
});
