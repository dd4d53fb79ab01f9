import type { Blueprint } from "../blueprint/blueprint.ts";
import type { Leftover } from "../foreman/clean.ts";
import type { Next } from "../foreman/next.ts";
import type { GateResult } from "../worker/gate.ts";

// What commands say to people, a function for each; the same as data is in the command's JSON.

export const nextText = ({ run, done, landed, dispatch, waiting, attention, fault }: Next): string =>
  [
    ...dispatch.map(({ attempt, description }) => `start ${attempt}: ${description}`),
    ...waiting.map(({ task, why }) => `task ${task} waits: ${why}`),
    ...attention.map(({ task, reason }) => `task ${task} needs a person: ${reason}`),
    ...(fault ? [`landing could not be done: ${fault}`] : []),
    done ? `run ${run} is done` : `landed: ${landed.join(", ") || "nothing yet"}`,
  ].join("\n");

export const gateText = ({
  gate,
  result,
  reused,
  seconds,
  failures,
  allowed,
  output,
  tail,
  hint,
}: GateResult): string =>
  [
    `${gate}: ${result}${reused ? " (as before on these files)" : ""}${seconds ? `, ${seconds.toFixed(1)} s` : ""}`,
    tail,
    result === "fail" ? `failed ${failures} of ${allowed}; whole output: ${output}` : "",
    hint,
  ]
    .filter(Boolean)
    .join("\n");

export const leftoverText = ({ kind, name, keep }: Leftover, isDryRun: boolean): string =>
  keep ? `keeps ${kind} ${name}: ${keep}` : `${isDryRun ? "would remove" : "removed"} ${kind} ${name}`;

/** Each value of the rails in force, and the file that it comes from. */
export function blueprintText({ sources, ...values }: Blueprint): string {
  const read = (name: string): unknown =>
    name.split(".").reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], values);
  const lines = Object.entries(sources).map(([name, file]) => {
    const value = name === "body" ? "(the steps)" : JSON.stringify(read(name));
    return `${name}: ${value}\n    ${file}`;
  });
  return lines.join("\n");
}
