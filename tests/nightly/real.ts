import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, vi } from "vitest";
import { clean } from "../../rails/foreman/clean.ts";
import { gatesFor, start } from "../../rails/foreman/start.ts";
import { findPlace, type Place } from "../../rails/git/repository.ts";
import { holdAtEnd } from "../../rails/guard/hold.ts";
import { Journal } from "../../rails/journal/journal.ts";
import type { RunState } from "../../rails/journal/state.ts";
import { landAll } from "../../rails/line/land.ts";
import { landingPath, type Site, siteOf } from "../../rails/line/site.ts";
import { makePlan } from "../../rails/plan/plan.ts";
import { Fault } from "../../rails/program/fault.ts";
import { runJob } from "../../rails/proof/jobs.ts";
import { findAttempt, ownAttempt } from "../../rails/worker/attempt.ts";
import { begin } from "../../rails/worker/begin.ts";
import { gate, runGateJob } from "../../rails/worker/gate.ts";
import { submit, submitNothing } from "../../rails/worker/submit.ts";
import { giveVerdict } from "../../rails/worker/verdict.ts";
import { handoff } from "../handoff.ts";
import { random } from "../unit/plan/random.ts";
import { holds } from "../unit/rails/invariants.ts";
import { randomRun } from "../unit/rails/random-run.ts";
import { type Scenario, scenarioOf } from "../unit/rails/random-scenario.ts";
import type { Hands } from "../unit/rails/random-worker.ts";

const NO_TOOLS = { setup: null, lint: null, test: null, build: null };

/** A tiny repository of its own, in which all that happens is done by this process and by git. */
class Real implements Hands {
  readonly main = realpathSync(mkdtempSync(join(tmpdir(), "minion-real-")));
  private readonly worktrees = new Map<string, string>();
  private between = async (): Promise<void> => {};
  private readonly rand: () => number;
  journal = new Journal(this.main, "r1");
  private place = {} as Place;
  private site = {} as Site;

  constructor(seed: number) {
    this.rand = random(seed);
  }

  async start({ list, files, blueprint, ...ways }: Scenario): Promise<void> {
    this.git(this.main, "init", "-q", "-b", "trunk");
    this.git(this.main, "config", "user.name", "t");
    this.git(this.main, "config", "user.email", "t@t");
    for (const [path, text] of Object.entries(files)) this.write(join(this.main, path), text);
    this.git(this.main, "add", "-A");
    this.git(this.main, "commit", "-qm", "chore: start");
    this.place = await findPlace(this.main);
    const planned = {
      place: this.place,
      list,
      plan: makePlan(list, "list"),
      tools: NO_TOOLS,
      blueprint,
      gates: gatesFor(blueprint, NO_TOOLS),
      success: { words: "" },
      ...ways,
      estimate: null,
    };
    const { run, line } = await start(planned, { session: "s1", owner: null }, false, null);
    this.journal = new Journal(this.place.common, run);
    const site = siteOf(this.place, run, line);
    const move = async (from: string, to: string): Promise<boolean> => {
      const chance = this.rand();
      if (chance < 0.05) throw new Error("killed before the line moved");
      const isMoved = await site.move(from, to);
      if (chance < 0.1) throw new Error("killed after the line moved");
      return isMoved;
    };
    const prove: Site["prove"] = async (...what) => {
      const evidence = await site.prove(...what);
      await this.between();
      return evidence;
    };
    this.site = { ...site, move, prove };
  }

  async begin(attempt: string) {
    // Named as Claude Code names what it makes for an agent.
    const agent = `agent-${attempt.replace(/\W/g, "")}`;
    const path = join(this.main, ".claude/worktrees", agent);
    if (!this.worktrees.has(attempt))
      this.git(this.main, "worktree", "add", "-q", "-b", `worktree-${agent}`, path, "trunk");
    this.worktrees.set(attempt, path);
    await begin(attempt, path, 0);
  }
  edit(attempt: string, path: string, text: string): void {
    const file = join(this.at(attempt), path);
    if (text === "") rmSync(file, { force: true });
    else this.write(file, text);
  }
  read(attempt: string, path: string): string {
    const file = join(this.at(attempt), path);
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  }
  commit(attempt: string, subject: string): void {
    this.git(this.at(attempt), "add", "-A");
    // What changes nothing is passed over at landing.
    if (this.git(this.at(attempt), "status", "--porcelain") !== "")
      this.git(this.at(attempt), "commit", "-q", "-m", subject);
  }
  async gates(attempt: string): Promise<boolean> {
    return (await gate(undefined, this.at(attempt), 0)).at(-1)?.result === "pass";
  }
  submit(attempt: string): Promise<void> {
    return submit(handoff("Did it."), this.at(attempt));
  }
  giveVerdict(attempt: string, verdict: string, findings: string): Promise<void> {
    return giveVerdict(attempt, verdict, findings, this.at(attempt));
  }
  nothing(attempt: string): Promise<void> {
    return submitNothing("It is there.", this.at(attempt));
  }
  async end(attempt: string): Promise<string | null> {
    return holdAtEnd(await findAttempt(this.place.common, attempt), "It is done.");
  }

  meanwhile(work: () => Promise<void>): void {
    this.between = work;
  }
  filesAt(commit: string): Record<string, string> {
    const paths = this.git(this.main, "ls-tree", "-r", "--name-only", commit).split("\n");
    return Object.fromEntries(
      paths.map((path) => [path, this.git(this.main, "show", `${commit}:${path}`)]),
    );
  }
  subjectsTo(commit: string): string[] {
    return this.git(this.main, "log", "--format=%s", `trunk..${commit}`)
      .split("\n")
      .filter(Boolean);
  }

  /** Does a job here instead of in a process of its own. */
  readonly attach = async <T>(
    { cwd, job }: { cwd: string; job: string },
    result: (state: RunState) => T | undefined,
  ) => {
    const found = result(await this.journal.state());
    if (found !== undefined) return found;
    const [what, , name = ""] = job.split(" ");
    const own = what === "land" ? null : await ownAttempt(cwd);
    await runJob(this.journal, job, () =>
      own ? runGateJob(own, name) : landAll(this.journal, this.site),
    );
    const made = result(await this.journal.state());
    if (made === undefined) throw new Fault("job", "it brought no result", "");
    return made;
  };

  /** Worktrees that are left once `clean` has run, without those that it keeps for a reason. */
  async leftovers(): Promise<string[]> {
    const state = await this.journal.state();
    const { keep } = await clean(state, this.place, [landingPath(this.place, state.run)], {
      isDryRun: false,
      isWithVariants: false,
    });
    const begun = [...state.attempts.values()].flatMap((each) => each.begun?.worktree ?? []);
    const left = [...begun, landingPath(this.place, state.run)].filter(existsSync);
    return left.filter((path) => !keep.some(({ name }) => name === `worktree ${path}`));
  }

  destroy(): void {
    rmSync(this.main, { recursive: true, force: true });
  }

  private at(attempt: string): string {
    const path = this.worktrees.get(attempt);
    if (!path) throw new Fault("not-begun", attempt, "");
    return path;
  }

  private git(cwd: string, ...args: string[]): string {
    return execFileSync("git", args, {
      cwd,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trim();
  }

  private write(file: string, text: string): void {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** The repository that is in use, for what the rails call instead of starting a job's process. */
const now: { real?: Real } = {};
vi.mock("../../rails/proof/jobs.ts", async (original) => ({
  ...(await original<object>()),
  attach: (...args: Parameters<Real["attach"]>) => now.real?.attach(...args),
}));

/** As many random runs on real git; what must hold of each is what must hold on the pure core. */
export async function realRuns(count: number, most: number): Promise<void> {
  for (let seed = 1; seed <= count; seed++) {
    const scenario = scenarioOf(seed, most);
    const real = new Real(seed);
    now.real = real;
    try {
      await real.start(scenario);
      holds(await randomRun(seed, scenario, real), real);
      expect(await real.leftovers()).toEqual([]);
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}\n${scenario.list}`, {
        cause: error,
      });
    } finally {
      real.destroy();
    }
  }
  console.log(`random runs on real git: ${count}`);
}
