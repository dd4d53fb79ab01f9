import { EXIT } from "../rails/program/fault.ts";
import type { Verb } from "../rails/program/verb.ts";
import { findingText } from "./finding.ts";
import { COMMON, type Common } from "./options.ts";
import { findRoot, here } from "./paths.ts";
import { validate as check } from "./validate.ts";

export const validate: Verb<Common> = {
  usage: "validate [path]",
  about: "check commands, agents, skills and hooks as Claude Code reads them",
  options: COMMON,
  async run({ words: [path], options }) {
    const root = options.dir || options.scope ? findRoot(options, here()).root : ".";
    const result = await check(path ?? root, here());
    const { files, findings, claude } = result;
    const asked = claude ? "Claude Code's own checks among them" : "Claude Code could not be asked";
    const lines = [
      ...findings.map(findingText),
      `${files} files checked, ${findings.length} findings; ${asked}`,
    ];
    return {
      text: lines.join("\n"),
      data: result,
      isColoured: true,
      exit: findings.some(({ level }) => level !== "note") ? EXIT.refused : EXIT.done,
    };
  },
};
