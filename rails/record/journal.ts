import { appendFile, mkdir, open, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { EXIT, Fault } from "../fault.ts";
import { withLock } from "../git/lock.ts";
import type { Event, NewEvent } from "./events.ts";
import { fold, isOpen, type RunState } from "./state.ts";

/** A line of a journal that could not be read, from 1. */
export interface BadLine {
  readonly line: number;
  readonly text: string;
}

export interface Decision<T> {
  readonly events: readonly NewEvent[];
  readonly result: T;
}

/** One run's journal: the only file that says what happened, and the only way to add to it. */
export class Journal {
  /** Holds the journal, raw output and the report. */
  readonly folder: string;
  readonly file: string;

  constructor(common: string, run: string) {
    this.folder = join(common, "minion", run);
    this.file = join(this.folder, "events.jsonl");
  }

  /** All events so far and what could not be read. A last line that is torn is none yet. */
  async read(): Promise<{ events: Event[]; bad: BadLine[] }> {
    const text = await readFile(this.file, "utf8").catch((error) => {
      if (error.code === "ENOENT") return "";
      throw error;
    });
    const events: Event[] = [];
    const bad: BadLine[] = [];
    for (const [index, line] of text.split("\n").slice(0, -1).entries()) {
      const event = parse(line);
      if (event) events.push(event);
      else if (line.trim()) bad.push({ line: index + 1, text: line.slice(0, 80) });
    }
    return { events, bad };
  }

  /** @throws Fault `no-run` where there is no such run */
  async state(): Promise<RunState> {
    const { events, bad } = await this.read();
    const first = events.find((event) => event.event === "started");
    if (!first)
      throw new Fault("no-run", `there is no run in ${this.folder}`, "start one: minion start FILE", EXIT.usage);
    return fold(first, events, bad);
  }

  /**
   * Looks at the state and adds events in one step, so that two processes never decide on the same state.
   * @param decide gives back the events to write and whatever the caller wants to know
   */
  decide<T>(decide: (state: RunState) => Promise<Decision<T>> | Decision<T>): Promise<T> {
    return withLock(this.folder, "journal", async () => {
      const { events, result } = await decide(await this.state());
      await this.append(events);
      return result;
    });
  }

  /** Adds events that follow from no other. */
  add(...events: NewEvent[]): Promise<void> {
    return withLock(this.folder, "journal", () => this.append(events));
  }

  private async append(events: readonly NewEvent[]): Promise<void> {
    if (events.length === 0) return;
    await mkdir(this.folder, { recursive: true });
    // A torn last line of a process that died must not swallow the first of ours.
    const gap = (await endsTorn(this.file)) ? "\n" : "";
    const at = Date.now();
    await appendFile(this.file, gap + events.map((event) => `${JSON.stringify({ at, ...event })}\n`).join(""));
  }
}

/** The runs of a repository, oldest first. */
export async function listRuns(common: string): Promise<string[]> {
  const names = await readdir(join(common, "minion")).catch(() => []);
  return names.filter((name) => /^r\d+$/.test(name)).sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)));
}

/**
 * The run that a command is about: the one that is named, else this session's newest open one, else the newest.
 * @throws Fault `no-run` where there is none
 */
export async function findRun(
  common: string,
  session: string,
  name?: string,
): Promise<{ journal: Journal; state: RunState }> {
  const all = await listRuns(common);
  if (name !== undefined && !all.includes(name))
    throw new Fault("no-run", `there is no run ${name} here`, `there are ${all.join(", ") || "none"}`, EXIT.usage);
  let newest: { journal: Journal; state: RunState } | undefined;
  for (const run of name === undefined ? all.reverse() : [name]) {
    const journal = new Journal(common, run);
    const state = await journal.state();
    newest ??= { journal, state };
    if (session !== "" && state.session === session && isOpen(state)) return { journal, state };
  }
  if (!newest) throw new Fault("no-run", "no run has been started here", "start one: minion start FILE", EXIT.usage);
  return newest;
}

async function endsTorn(path: string): Promise<boolean> {
  const file = await open(path).catch(() => null);
  if (!file) return false;
  try {
    const { size } = await file.stat();
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
    return size > 0 && buffer.toString() !== "\n";
  } finally {
    await file.close();
  }
}

function parse(line: string): Event | null {
  try {
    const value = JSON.parse(line);
    return typeof value?.event === "string" && typeof value.at === "number" ? value : null;
  } catch {
    return null;
  }
}
