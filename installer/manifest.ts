import * as z from "zod/mini";

/** Its name in the installed folder. It swaps together with what it describes. */
export const MANIFEST = ".minion-toolkit.json";

const leadsOut = /^([/\\]|[a-z]:|$)|(^|[/\\])\.{1,2}([/\\]|$)/i;
const inside = z.string().check(z.refine((path) => !leadsOut.test(path), "is not in the folder"));

const shape = z.object({
  version: z.literal(1),
  /** The version of the package that was laid last. */
  package: z.string(),
  /** Path → sha256 of the package's file that was laid, or offered beside an edited one. */
  files: z.record(inside, z.string().check(z.regex(/^[0-9a-f]{64}$/))),
  /** Folders within the installation that it made. */
  dirs: z.array(inside),
  /** How many folders it made of the installation's own and those above, counted upwards. */
  made: z.int().check(z.nonnegative()),
});

/** What the installer wrote, and nothing else: only this may be replaced or removed. */
export type Manifest = z.infer<typeof shape>;

/** Throws where it is broken, which is never the same as empty: what is ours would be unknown. */
export const parseManifest = (text: string): Manifest => shape.parse(JSON.parse(text));
