import { Option } from "commander";
import { EXIT, Fault } from "../program/fault.ts";
import { untilOf, type Verb, WAIT, type Waiting } from "../program/verb.ts";
import { type GateResult, gate, RESULTS } from "./gate.ts";

export const verb: Verb<Waiting & { all?: true }> = {
  usage: "gate [name]",
  about: "for a worker: run a gate, or all, on the files as they are",
  options: [new Option("--all", "every gate in order, until one does not pass"), WAIT],
  async run({ words: [name], options }, world) {
    if ((name === undefined) === (options.all === undefined))
      throw new Fault("usage", "gate wants one name, or --all", "minion gate test", EXIT.usage);
    const gates = await gate(name, world.cwd, untilOf(options, world));
    return {
      text: gates.flatMap(linesOf).join("\n"),
      data: { gates },
      exit: RESULTS[gates.at(-1)?.result ?? "pass"],
    };
  },
};

/** What a worker is told of one gate. */
function linesOf(result: GateResult): string[] {
  const before = result.reused ? " (as before on these files)" : "";
  const took = result.seconds ? `, ${result.seconds.toFixed(1)} s` : "";
  const lines = [`${result.gate}: ${result.result}${before}${took}`];
  if (result.tail) lines.push(result.tail);
  if (result.result === "fail")
    lines.push(`failed ${result.failures} of ${result.allowed}; whole output: ${result.output}`);
  if (result.hint) lines.push(result.hint);
  return lines;
}
