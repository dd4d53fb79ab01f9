import type { Event } from "../journal/events.ts";
import { runAt } from "../journal/run-at.ts";
import { oneLine } from "../program/shown.ts";
import { type OfRun, RUN, type Verb } from "../program/verb.ts";

export const verb: Verb<OfRun> = {
  usage: "events",
  about: "print the run's journal",
  options: [RUN],
  async run({ options }, world) {
    const { journal } = await runAt(world, options.run);
    const data = await journal.read();
    const bad = data.bad.map((line) => `line ${line} cannot be read`);
    return { text: [...data.events.map(eventLine), ...bad].join("\n"), data };
  },
};

/** A value of an event takes so many characters at most; the JSON has it whole. */
const MOST = 80;

/** `12:03:59  ended  attempt=r1/2.1 reason=stuck`: when, what, and what was taken down with it. */
function eventLine({ at, event, ...said }: Event): string {
  const fields = Object.entries(said)
    .map(([name, value]) => [name, valueText(value)])
    .filter(([, text]) => text !== "" && text !== "null" && text !== "[]")
    .map(([name, text]) => `${name}=${text}`);
  const time = new Date(at).toISOString().slice(11, 19);
  return `${time}  ${event.padEnd(12)}  ${fields.join(" ")}`.trimEnd();
}

function valueText(value: unknown): string {
  const whole = oneLine(typeof value === "string" ? value : JSON.stringify(value));
  const text = whole.replace(/\b([0-9a-f]{10})[0-9a-f]{30}\b/g, "$1");
  const chars = Array.from(text);
  return chars.length > MOST ? `${chars.slice(0, MOST).join("")}…` : text;
}
