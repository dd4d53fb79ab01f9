import { createHash } from "node:crypto";
import { findingsOf } from "../journal/findings.ts";
import type { RunState } from "../journal/state.ts";
import { type Alarm, alarmLine } from "./alarms.ts";
import type { Attention } from "./attention.ts";

/** So many characters of a finding are passed on; the whole is in the report. */
const FINDING_CHARACTERS = 600;

/** What a session is told of a run beside what is to be started: each once, until the session has
 * lost it or somebody else leads the run. */
export type News = Readonly<{
  findings: readonly Readonly<{ task: string; slot: string; text: string }>[];
  attention: readonly Attention[];
  alarms: readonly string[];
  blocked: readonly string[]; // Ids of tasks that cannot begin before a person decides
}>;

/** What there is to say, and of it what was not said yet.
 * @param isAll also what was said already
 * @returns the keys by which it is known then */
export function newsOf(
  state: RunState,
  attention: readonly Attention[],
  alarms: readonly Alarm[],
  isAll: boolean,
): { news: News; keys: string[] } {
  const keys: string[] = [];
  const isNew = (...parts: readonly string[]): boolean => {
    const key = keyOf(parts);
    if (state.told.has(key)) return isAll;
    keys.push(key);
    return true;
  };
  const blocked = [...state.tasks.values()].filter((task) => task.state === "blocked");
  const news = {
    findings: findingsOf(state)
      // Those of an area are its planner's business.
      .filter(({ task }) => state.tasks.get(task)?.added !== "planner")
      .filter(({ attempt, slot, text }) => isNew("finding", attempt, slot, text))
      .map(({ task, slot, text }) => ({ task, slot, text: cut(text, state.run) })),
    attention: attention.filter(({ task, reason, note }) =>
      isNew("person", task, `${reason}`, note, timesOf(state, task)),
    ),
    alarms: alarms.filter(({ when, what }) => isNew("alarm", when, what)).map(alarmLine),
    blocked: blocked.map(({ id }) => id).filter((id) => isNew("blocked", id)),
  };
  return { news, keys };
}

/** How often something happened to a task: the same may come to wait for a person anew. */
function timesOf({ tasks }: RunState, id: string): string {
  const { attempts = [], words = [] } = tasks.get(id) ?? {};
  return `${attempts.length} ${words.length}`;
}

/** What a run is known by that is done: it may be open again, and done once more. */
export const doneAt = ({ lastAt }: RunState): string[] => ["done", String(lastAt)];

/** What a fault of landing is known by: the same one is another once more was handed in. */
export const faultAt = (state: RunState, fault: string): string[] => {
  const handed = [...state.attempts.values()].filter(({ submitted }) => submitted).length;
  return ["fault", fault, String(handed)];
};

/** Was its session told something, once? */
export const isToldOf = ({ told }: RunState, ...parts: readonly string[]): boolean =>
  told.has(keyOf(parts));

/** What something is known by once it was said. */
export const keyOf = (parts: readonly string[]): string =>
  createHash("sha256").update(parts.join("\0")).digest("base64url").slice(0, 16);

function cut(text: string, run: string): string {
  const chars = Array.from(text);
  const left = chars.length - FINDING_CHARACTERS;
  if (left <= 0) return text;
  const kept = chars.slice(0, FINDING_CHARACTERS).join("");
  return `${kept}[… ${left} more characters: minion report --json --run ${run}]`;
}
