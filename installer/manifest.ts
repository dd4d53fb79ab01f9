import * as v from "valibot";
import { unlisted } from "../rails/blueprint/schema.ts";

/** Its name in the installed folder. It swaps together with what it describes. */
export const MANIFEST = ".minion-toolkit.json";

const leadsOut = /^([/\\]|[a-z]:|$)|(^|[/\\])\.{1,2}([/\\]|$)/i;
const inside = v.pipe(
  v.string(),
  v.check((path) => !leadsOut.test(path), "is not in the folder"),
);

const shape = v.object({
  version: v.literal(1),
  /** The version of the package that was laid last. */
  package: v.string(),
  /** Path → sha256 of the package's file that was laid, or offered beside an edited one. */
  files: unlisted(v.record(inside, v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)))),
  /** Folders within the installation that it made. */
  dirs: v.array(inside),
  /** How many folders it made of the installation's own and those above, counted upwards. */
  made: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
});

/** What the installer wrote, and nothing else: only this may be replaced or removed. */
export type Manifest = v.InferOutput<typeof shape>;

/** Throws where it is broken, which is never the same as empty: what is ours would be unknown. */
export const parseManifest = (text: string): Manifest => v.parse(shape, JSON.parse(text));
