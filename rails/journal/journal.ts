import { existsSync } from "node:fs";
import { appendFile, readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { EXIT, Fault } from "../program/fault.ts";
import { jsonIn, MOST_KEPT, readIfThere } from "../program/files.ts";
import { withLock } from "../program/lock.ts";
import { outside } from "../program/world.ts";
import { type Event, eventIn, type NewEvent } from "./events.ts";
import { fold } from "./fold.ts";
import { isOpen, type RunState } from "./state.ts";

/** One run's journal: the only file that says what happened, and the only way to add to it. */
export class Journal {
  readonly folder: string; // Holds the journal, raw output and the report
  readonly file: string;

  constructor(common: string, run: string) {
    this.folder = join(common, "minion", run);
    this.file = join(this.folder, "events.jsonl");
  }

  /** All events so far, and the numbers of lines that could not be read. A last line that is torn
   * is none yet. */
  async read(): Promise<{ events: Event[]; bad: number[] }> {
    const lines = ((await readIfThere(this.file, MOST_KEPT)) ?? "").split("\n").slice(0, -1);
    const events: Event[] = [];
    const bad: number[] = [];
    for (const [index, line] of lines.entries()) {
      if (line.trim() === "") continue;
      const event = eventIn(jsonIn(line));
      if (event === null) bad.push(index + 1);
      else if (event !== "unknown") events.push(event);
    }
    return { events, bad };
  }

  /** The run as all its events leave it.
   * @throws Fault `no-run` where there is no such run, or its start cannot be read */
  async state(): Promise<RunState> {
    const { events, bad } = await this.read();
    const first = events.find((event) => event.event === "started");
    if (first) return fold(first, events, bad);
    if (bad.length === 0) {
      const way = "/minion starts another";
      throw new Fault("no-run", `there is no run in ${this.folder}`, way, EXIT.usage);
    }
    const run = basename(this.folder);
    const what = `line ${bad[0]} of ${this.file} cannot be read, which says what run ${run} is`;
    const way =
      `put that line back, or see what the run left, git branch --list 'minion/${run}/*', ` +
      "and start another with /minion";
    throw new Fault("no-run", what, way, EXIT.usage);
  }

  /** Looks at the state and adds what `decide` writes in one step, so that two processes never
   * decide on the same state. Where it throws nothing is added.
   * @returns what `decide` returns */
  decide<T>(
    decide: (state: RunState, write: (event: NewEvent) => void) => Promise<T> | T,
  ): Promise<T> {
    return withLock(this.folder, "journal", async () => {
      const events: NewEvent[] = [];
      const result = await decide(await this.state(), (event) => void events.push(event));
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
    // A torn last line of a process that died must not swallow the first of ours.
    const isTorn = /[^\n]$/.test((await readIfThere(this.file, MOST_KEPT)) ?? "");
    const slept = outside().slept?.() || undefined;
    const when = { at: outside().now(), slept };
    const lines = events.map((event) => `${JSON.stringify({ ...when, ...event })}\n`);
    await appendFile(this.file, (isTorn ? "\n" : "") + lines.join(""));
  }
}

/** A run: its journal, and its state as that said when it was read. */
export type Run = Readonly<{ journal: Journal; state: RunState }>;

/** The runs of a repository, oldest first; none that was killed before its first event. */
export async function listRuns(common: string): Promise<string[]> {
  const names = await readdir(join(common, "minion")).catch(() => []);
  const isThere = (name: string): boolean =>
    /^r\d+$/.test(name) && existsSync(new Journal(common, name).file);
  return names.filter(isThere).sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)));
}

/** The session's newest open run, or null; also where there is no session. */
export async function ownRun(common: string, session: string): Promise<Run | null> {
  if (session === "") return null;
  for (const name of (await listRuns(common)).reverse()) {
    const journal = new Journal(common, name);
    const state = await journal.state().catch(() => null);
    if (state?.session === session && isOpen(state)) return { journal, state };
  }
  return null;
}

/** The run that is named, else this session's newest, done or not, else the newest.
 * @param isMeant which ones go before all others, also before this session's
 * @throws Fault `no-run` */
export async function findRun(
  common: string,
  session: string,
  name?: string,
  isMeant?: (state: RunState) => boolean,
): Promise<Run> {
  const all = await listRuns(common);
  const wanted = name === undefined ? await choose(common, all, session, isMeant) : name;
  if (wanted === undefined || !all.includes(wanted)) {
    const hint =
      all.length > 0
        ? `there are ${all.join(", ")}`
        : "/minion and a task list, in Claude Code, start one";
    throw new Fault("no-run", `there is no run ${name ?? "here yet"}`, hint, EXIT.usage);
  }
  const journal = new Journal(common, wanted);
  return { journal, state: await journal.state() };
}

/** The name of the run that is meant where none is said. What cannot be read is nobody's. */
async function choose(
  common: string,
  all: readonly string[],
  session: string,
  isMeant?: (state: RunState) => boolean,
): Promise<string | undefined> {
  let own: string | undefined;
  let meant: string | undefined;
  for (const name of [...all].reverse()) {
    if (!isMeant && (own || session === "")) break;
    const state = await new Journal(common, name).state().catch(() => null);
    if (!state) continue;
    const isOwn = session !== "" && state.session === session;
    if (isOwn) own ??= name;
    if (!isMeant?.(state)) continue;
    if (isOwn) return name;
    meant ??= name;
  }
  return meant ?? own ?? all.at(-1);
}
