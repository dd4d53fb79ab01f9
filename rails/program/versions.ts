/** What is needed at least. Claude Code: the oldest in which the end of a worker wakes the session;
 * in those before, a run waits for ever. */
export const NEEDED = { node: "20.12", git: "2.31", claude: "2.1.198" };

export const enough = (version: string, needed: string): boolean =>
  version.localeCompare(needed, "en", { numeric: true }) >= 0;

/** The version of the client in whose session this runs, where it tells. */
export function clientIn({ AI_AGENT = "" }: NodeJS.ProcessEnv): string | null {
  const [, version] = /^claude-code[_/](\d+[-.]\d+[-.]\d+)/.exec(AI_AGENT) ?? [];
  return version?.replaceAll("-", ".") ?? null;
}
