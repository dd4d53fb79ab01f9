import type { Blueprint } from "../blueprint/blueprint.ts";
import type { Leftover } from "../foreman/clean.ts";
import type { Next } from "../foreman/next.ts";
import type { Attention } from "../record/attention.ts";
import type { GateResult } from "../worker/gate.ts";

// What commands say to people, a function for each; the same as data is in the command's JSON.

const lines = (...all: (string | undefined)[]): string => all.filter(Boolean).join("\n");

export const nextText = ({ run, done, landed, dispatch, waiting, attention, fault }: Next): string =>
  lines(
    ...dispatch.map(({ attempt, description }) => `start ${attempt}: ${description}`),
    ...waiting.map(({ task, why }) => `task ${task} waits: ${why}`),
    ...attention.map(({ task, reason }) => `task ${task} needs a person: ${reason}`),
    fault ? `landing could not be done: ${fault}` : "",
    done ? `run ${run} is done` : `landed: ${landed.join(", ") || "nothing yet"}`,
  );

export function gateText({ gate, result, reused, seconds, failures, allowed, output, tail, hint }: GateResult): string {
  const time = seconds ? `, ${seconds.toFixed(1)} s` : "";
  const failed = result === "fail" ? `failed ${failures} of ${allowed}; whole output: ${output}` : "";
  return lines(`${gate}: ${result}${reused ? " (as before on these files)" : ""}${time}`, tail, failed, hint);
}

export const attentionText = (all: readonly Attention[]): string =>
  lines(
    ...all.flatMap(({ task, reason, note, choices }) => [
      `task ${task}: ${reason}. ${note}`,
      ...choices.map(({ label, command }) => `  ${label}: ${command}`),
    ]),
  ) || "Nothing waits for you.";

export const leftoverText = (all: readonly Leftover[], isDryRun: boolean): string =>
  lines(
    ...all.map(({ kind, name, keep }) =>
      keep ? `keeps ${kind} ${name}: ${keep}` : `${isDryRun ? "would remove" : "removed"} ${kind} ${name}`,
    ),
  ) || "Nothing is left of it.";

/** Each value of the rails in force, and the file that it comes from. */
export const blueprintText = ({ sources, ...fields }: Blueprint): string =>
  lines(
    ...Object.entries(sources).map(([name, file]) => {
      const [group, key] = name.split(".") as [keyof typeof fields, string?];
      const value = name === "body" ? "(the steps)" : JSON.stringify(key ? Object(fields[group])[key] : fields[group]);
      return `${name}: ${value}\n    ${file}`;
    }),
  );
