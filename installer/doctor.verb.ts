import { EXIT } from "../rails/program/fault.ts";
import type { Verb } from "../rails/program/verb.ts";
import { diagnose } from "./doctor.ts";
import { findingText } from "./finding.ts";
import { COMMON, type Common } from "./options.ts";
import { here } from "./paths.ts";

declare const __VERSION__: string;

export const doctor: Verb<Common> = {
  usage: "doctor",
  about: "say what is installed, whether it works, and what to do where it does not",
  options: COMMON,
  async run({ options }) {
    const result = await diagnose(options, __VERSION__, here());
    const { root, why, installed, tools, findings } = result;
    const { node, git, claude } = tools;
    const isElsewhere = findings.some(({ code }) => code === "by-marketplace");
    const lines = [
      `root    ${root} (${why})`,
      `minion  ${installed ?? (isElsewhere ? "from a marketplace" : "not installed")}`,
      `tools   Node ${node}, git ${git ?? "none"}, Claude Code ${claude ?? "none"}`,
      ...findings.map(findingText),
    ];
    if (findings.length === 0) lines.push("all is well: type /minion in Claude Code");
    const isToBeMended = findings.some(({ level }) => level !== "note");
    return {
      text: lines.join("\n"),
      data: result,
      isColoured: true,
      exit: isToBeMended ? EXIT.refused : EXIT.done,
    };
  },
};
