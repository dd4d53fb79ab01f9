import { Option } from "commander";
import type { RootFlags } from "./paths.ts";

/** Which folder a verb is about. */
const DIR = new Option(
  "--dir <folder>",
  "the folder that Claude Code reads (default: CLAUDE_CONFIG_DIR, else ~/.claude)",
);
const SCOPE = new Option("--scope <scope>", "user, or project: .claude in this repository").choices(
  ["user", "project"],
);
const DRY_RUN = new Option("--dry-run", "write nothing; print what would be written");
const JSON_ONLY = new Option("--json", "print one JSON document and nothing else");

/** The options of all verbs that are about an installation. */
export const COMMON: readonly Option[] = [DIR, SCOPE, DRY_RUN, JSON_ONLY];
export type Common = RootFlags & { readonly dryRun?: true; readonly json?: true };
