import { changeWith, writeChange } from "../../../rails/foreman/change.ts";
import type { Place } from "../../../rails/git/repository.ts";
import type { Journal } from "../../../rails/journal/journal.ts";
import type { AttemptState } from "../../../rails/journal/state.ts";
import { leaveOut } from "../../../rails/line/drop.ts";
import { Fault } from "../../../rails/program/fault.ts";
import { refuseOver } from "../../../rails/worker/hand-in.ts";
import { pick } from "../plan/random.ts";
import { FORBIDDEN, ownFile, POOL, railsOf, type Scenario } from "./random-scenario.ts";

/** A worker's and landing's hold on a repository, real or not. Workers are named by their attempts.
 */
export interface Hands {
  readonly journal: Journal;
  readonly main: string;
  begin(attempt: string): Promise<unknown>;
  edit(attempt: string, path: string, text: string): void;
  /** @returns the text of a file, empty where there is none */
  read(attempt: string, path: string): string;
  commit(attempt: string, subject: string): void;
  /** @returns whether all passed */
  gates(attempt: string): Promise<boolean>;
  submit(attempt: string): Promise<void>;
  giveVerdict(attempt: string, verdict: string, findings: string): Promise<void>;
  nothing(attempt: string): Promise<void>;
  /** @returns what sends the worker back, or null where it may end */
  end(attempt: string): Promise<string | null>;
  /** Tells what is to be done whenever landing has run a command. */
  meanwhile(work: () => Promise<void>): void;
  /** The files on a commit of the line. */
  filesAt(commit: string): Record<string, string>;
  /** What was put on the base up to a commit, newest first. */
  subjectsTo(commit: string): string[];
}

/** How a worker behaves; most are good. */
export const STYLES = [
  ...([
    "good",
    "good",
    "good",
    "good",
    "good",
    "mends",
    "mends",
    "stubborn",
    "spins",
    "liar",
    "silent",
  ] as const),
  ...([
    "late",
    "late",
    "never begins",
    "nothing",
    "trespasser",
    "insists",
    "dirty",
    "sloppy",
  ] as const),
];
type Style = (typeof STYLES)[number];

/** One worker's life, a step at a time. What is refused ends it, as it does a worker that does what
 * it is told. */
export async function* work(
  hands: Hands,
  scenario: Scenario,
  { attempt, task }: Readonly<Record<"attempt" | "task", string>>,
  usual: Style,
  rand: () => number,
): AsyncGenerator<void> {
  const { touched, halves, fates } = scenario;
  let style = usual;
  let tries = 0;
  let own: AttemptState | undefined;
  const write = (flaw: string): void => {
    const said = (own?.task.files ?? [])
      .map(({ path }) => path)
      .filter((path) => POOL.includes(path));
    for (const path of new Set([...(touched[task] ?? said), ownFile(task)])) {
      const isOwn = path === ownFile(task);
      const half = isOwn && flaw !== "mended" ? (halves[task] ?? "") : "";
      const line = style === "spins" ? `${flaw}\n` : `${flaw} `;
      const edits = isOwn ? editsIn(hands.read(attempt, path), attempt, style) : "";
      hands.edit(attempt, path, `${half}${line}${attempt} ${tries++}\n${edits}`);
    }
  };
  try {
    if (style === "never begins") return void (await hands.end(attempt));
    await hands.begin(attempt);
    yield;
    own = (await hands.journal.state()).attempts.get(attempt);
    const { phase } = own ?? {};
    if (phase?.variants) style = fates[task] ?? style;
    if (own && phase?.tasks) yield* plan(hands, scenario, own, style, rand);
    else if (own && phase?.picks) yield* choose(hands, attempt, style, rand);
    else if (phase && !phase.writes) yield* look(hands, attempt, phase.back !== "", style, rand);
    else if (phase?.red.length) {
      if (style !== "liar") hands.edit(attempt, ownFile(task), `FAIL ${attempt}\n`);
      await hands.gates(attempt);
      hands.commit(attempt, `feat: ${attempt} a`);
      await hands.submit(attempt);
    } else if (style === "nothing") await hands.nothing(attempt);
    else if (style === "silent") return;
    else {
      write(
        style === "mends" || style === "stubborn"
          ? pick(rand, ["LINT", "FAIL"])
          : style === "spins"
            ? "FAIL"
            : "",
      );
      if (style === "trespasser" || style === "insists")
        hands.edit(attempt, FORBIDDEN, `${attempt}\n`);
      yield;
      for (let waits = style === "late" ? 12 : 0; waits > 0; waits--) yield;
      if (style === "sloppy") hands.commit(attempt, `feat: ${attempt} a`);
      let passes = style !== "liar" && (await hands.gates(attempt));
      // A round is handed in though something is red.
      const fixes = phase?.rounds && rand() < 0.7 ? 3 : 0;
      for (let done = fixes; !passes && style !== "liar" && done < 3; done++) {
        yield;
        write(style === "stubborn" || style === "spins" ? "FAIL" : "mended");
        passes = await hands.gates(attempt);
      }
      yield;
      if (style !== "dirty") hands.commit(attempt, `feat: ${attempt} b`);
      await hands.submit(attempt).catch(async (error: Error) => {
        if (!(error instanceof Fault) || error.code !== "forbidden") throw error;
        if (style === "insists") return hands.submit(attempt);
        hands.edit(attempt, FORBIDDEN, "");
        hands.commit(attempt, `feat: ${attempt} c`);
        await hands.gates(attempt);
        await hands.submit(attempt);
      });
      yield;
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
  }
  yield;
  if (rand() < 0.1) return; // its end is never told of
  for (let ends = 0; (await hands.end(attempt)) !== null; ends++) {
    if (ends > 10) throw new Error(`${attempt} is sent back without end`);
    yield;
  }
}

/** The lines of a worker's own file that a check counts: one more of them, and none of one that
 * turns round or is slow. */
function editsIn(text: string, attempt: string, style: Style): string {
  const before = text.split("\n").filter((line) => line.startsWith("edit"));
  const more = style === "spins" || style === "late" ? [] : [`edit ${attempt}`];
  return [...before, ...more].map((line) => `${line}\n`).join("");
}

/** Plans an area: leaves none to three tasks, rewords and takes out what it left before. Some
 * forget to hand in. */
async function* plan(
  hands: Hands,
  scenario: Scenario,
  { id, task: area }: AttemptState,
  style: Style,
  rand: () => number,
): AsyncGenerator<void> {
  const { journal } = hands;
  const change = (text: string) =>
    writeChange(journal, (state) => {
      refuseOver(state, id);
      const planner = state.attempts.get(id) ?? null;
      return changeWith(text, "it", state, railsOf(scenario), () => true, planner);
    });
  const allowed = (error: unknown): void => {
    if (!(error instanceof Fault)) throw error;
  };
  const inside = [...(await journal.state()).tasks.keys()].filter((one) =>
    one.startsWith(`${area.id}/`),
  );
  const many = rand() < 0.4 ? 0 : 1 + Math.floor(rand() * 3);
  const text = Array.from({ length: many }, (_, at) => {
    const number = inside.length + at + 1;
    const fields = pick(rand, [
      [],
      [`Files: ${pick(rand, POOL)}`],
      [`Files: ${pick(rand, POOL)}`, "Workflow: loop"],
      ["Workflow: area"],
      ["Workflow: area"],
      ["Workflow: variants"],
      [`Each: seq ${Math.floor(rand() * 3)}`],
      at > 0 ? [`Depends: ${number - 1}`] : [],
    ]);
    return `### Task ${number}: Part ${number}\n${fields.map((field) => `${field}\n`).join("")}\n`;
  }).join("");
  if (many > 0) await change(text).catch(allowed);
  yield;
  if (inside.length > 0 && rand() < 0.3)
    await change(`### Task ${pick(rand, inside)}: Reworded\n`).catch(allowed);
  if (inside.length > 0 && rand() < 0.3) {
    const state = await journal.state();
    const at = { journal, place: { main: hands.main } as Place, state };
    await leaveOut(at, state.attempts.get(id) as AttemptState, [pick(rand, inside)]).catch(allowed);
  }
  yield;
  if (style === "silent") return;
  if (many === 0 && rand() < 0.3) await hands.nothing(id);
  else await hands.submit(id);
}

/** Chooses among variants; some name one that is not there, or none. */
async function* choose(hands: Hands, attempt: string, style: Style, rand: () => number) {
  yield;
  if (style !== "silent")
    await hands.giveVerdict(attempt, pick(rand, ["A", "A", "B", "C"]), "it is the smallest");
}

/** In a phase that changes nothing: some do, and some say nothing. */
async function* look(
  hands: Hands,
  attempt: string,
  isJudge: boolean,
  style: Style,
  rand: () => number,
) {
  if (style === "silent") return;
  if (style === "sloppy" || style === "dirty") hands.edit(attempt, "src/a.txt", `${attempt}\n`);
  if (style === "sloppy") hands.commit(attempt, `feat: ${attempt} x`);
  yield;
  if (!isJudge || style === "liar") await hands.submit(attempt);
  else
    await hands.giveVerdict(
      attempt,
      rand() < 0.4 ? "fail" : "pass",
      "src/a.txt:1: it may be wrong",
    );
}
