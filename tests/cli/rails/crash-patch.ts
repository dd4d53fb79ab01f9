// Kills every process of a run at one event of its journal. Events are counted in the file, since
// jobs write there too.
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { NewEvent } from "../../../rails/journal/events.ts";
import { Journal } from "../../../rails/journal/journal.ts";
import { isOfRun, type Moment } from "./crash-point.ts";

const {
  MINION_CRASH_RUN: run = "",
  MINION_CRASH_AT: at = "",
  MINION_CRASH_MARK: mark = "",
} = process.env;
const [moment, kind, nth] = at.split(" ") as [Moment, string, string];

type Writer = { readonly file: string; append(events: readonly NewEvent[]): Promise<void> };
const writer = Journal.prototype as unknown as Writer;
const { append } = writer;

if (at !== "")
  writer.append = async function (this: Writer, events) {
    const before = existsSync(this.file) ? readFileSync(this.file, "utf8") : "";
    let seen = before.split(`"event":"${kind}"`).length - 1;
    const index = events.findIndex(({ event }) => event === kind && ++seen === Number(nth));
    const event = events[index];
    if (existsSync(mark)) killAll();
    if (!event) return append.call(this, events);
    await append.call(this, events.slice(0, moment === "after" ? index + 1 : index));
    if (moment === "torn")
      appendFileSync(this.file, `{"at":1,${JSON.stringify(event).slice(1, -9)}`);
    writeFileSync(mark, "");
    killAll();
  };

/** The others first, also those that they have started meanwhile, this process last. */
function killAll(): void {
  const find = () =>
    readdirSync("/proc").filter((pid) => Number(pid) !== process.pid && isOfRun(Number(pid), run));
  for (let others = find(); others.length > 0; others = find())
    for (const pid of others)
      try {
        process.kill(Number(pid), "SIGKILL");
      } catch {
        // It ended by itself.
      }
  process.kill(process.pid, "SIGKILL");
}
