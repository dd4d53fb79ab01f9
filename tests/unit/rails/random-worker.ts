import type { Journal } from "../../../rails/journal/journal.ts";
import { Fault } from "../../../rails/program/fault.ts";
import { pick } from "../plan/random.ts";
import type { Scenario } from "./random-scenario.ts";
import { FORBIDDEN } from "./random-scenario.ts";

/** A worker's and landing's hold on a repository, real or not. Workers are named by their attempts.
 */
export interface Hands {
  readonly journal: Journal;
  readonly main: string;
  begin(attempt: string): Promise<unknown>;
  edit(attempt: string, path: string, text: string): void;
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
  { touched, halves }: Scenario,
  { attempt, task }: Readonly<Record<"attempt" | "task", string>>,
  style: Style,
  rand: () => number,
): AsyncGenerator<void> {
  let tries = 0;
  const write = (flaw: string): void => {
    for (const path of touched[task] ?? []) {
      const half = path.endsWith(`/t${task}.txt`) && flaw !== "mended" ? (halves[task] ?? "") : "";
      const line = style === "spins" ? `${flaw}\n` : `${flaw} `;
      hands.edit(attempt, path, `${half}${line}${attempt} ${tries++}\n`);
    }
  };
  try {
    if (style === "never begins") return void (await hands.end(attempt));
    await hands.begin(attempt);
    yield;
    const { phase } = (await hands.journal.state()).attempts.get(attempt) ?? {};
    if (phase && !phase.writes) yield* look(hands, attempt, phase.back !== "", style, rand);
    else if (phase?.red.length) {
      if (style !== "liar") hands.edit(attempt, `src/t${task}.txt`, `FAIL ${attempt}\n`);
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
      for (let fixes = 0; !passes && style !== "liar" && fixes < 3; fixes++) {
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
