import type { Place, Result } from "../../../rails/git/repository.ts";
import { holdAtEnd } from "../../../rails/guard/hold.ts";
import type { Evidence } from "../../../rails/journal/events.ts";
import type { Journal } from "../../../rails/journal/journal.ts";
import { isRed } from "../../../rails/journal/passed.ts";
import { conflictsOf, priorityOf } from "../../../rails/journal/replan.ts";
import type { Command } from "../../../rails/journal/shapes.ts";
import type { RunState } from "../../../rails/journal/state.ts";
import { landAll } from "../../../rails/line/land.ts";
import type { Site } from "../../../rails/line/site.ts";
import { makePlan } from "../../../rails/plan/plan.ts";
import { Fault } from "../../../rails/program/fault.ts";
import type { Found, Own } from "../../../rails/worker/attempt.ts";
import { begin } from "../../../rails/worker/begin.ts";
import { gate, runGateJob } from "../../../rails/worker/gate.ts";
import { submit, submitNothing } from "../../../rails/worker/submit.ts";
import { giveVerdict } from "../../../rails/worker/verdict.ts";
import { handoff } from "../../handoff.ts";
import { countIn, redIn } from "./invariants.ts";
import { MemoryJournal } from "./memory-journal.ts";
import type { Scenario } from "./random-scenario.ts";
import { FORBIDDEN } from "./random-scenario.ts";
import type { Hands } from "./random-worker.ts";

type Files = Record<string, string>;
type Commit = Readonly<{ files: Files; parent: string; subject: string }>;
type Tree = { branch: string; head: string; files: Files; marker: string | null };

const treeId = (files: Files): string =>
  JSON.stringify(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)));

const changed = (from: Files, to: Files): string[] =>
  [...new Set([...Object.keys(from), ...Object.keys(to)])].filter(
    (path) => from[path] !== to[path],
  );

/** What stands in for git and for what runs commands: a commit is a set of files, and two changes
 * of one file clash. */
export class Model implements Hands {
  readonly journal = new MemoryJournal("/model/.git", "r1");
  readonly main = "/model";
  private readonly gitDir = "/model/.git/worktrees/one";
  private readonly commits: Commit[] = [];
  private readonly refs: Record<string, string> = {};
  private readonly trees: Record<string, Tree> = {};
  private readonly reds = new Map<string, string[]>();
  private readonly prints = new Map<string, string>();
  private between = async (): Promise<void> => {};

  constructor(
    { list, files, blueprint, workflows, reviews }: Scenario,
    private readonly rand: () => number,
  ) {
    const plan = makePlan(list, "list");
    const base = this.put({ files, parent: "", subject: "base" });
    const apart = { tasks: plan.tasks, conflicts: conflictsOf(plan, workflows) };
    const conflicts = apart.conflicts.map(({ tasks }) => tasks);
    const priority = priorityOf({ plan: apart, blueprint, workflows, reviews });
    const gates = blueprint.gates.map(({ name, run = "" }) => ({ name, run, cwd: "", timeout: 1 }));
    const line = "minion/r1/line";
    this.refs[line] = base;
    void this.journal.add({
      event: "started",
      version: 1,
      run: "r1",
      base,
      line,
      prefix: "",
      session: "s1",
      owner: null,
      blueprint,
      gates,
      setup: null,
      workflows,
      reviews,
      goal: "",
      success: "",
      toolsSaid: {},
      successWords: "",
      estimate: null,
      budget: null,
      fresh: true,
      tasks: plan.tasks,
      conflicts,
      priority,
    });
  }

  // What a worker does.
  begin(attempt: string) {
    const head = this.refs["minion/r1/line"] ?? "";
    this.trees[attempt] ??= { branch: "agent", head, files: this.filesAt(head), marker: null };
    return begin(attempt, attempt, 0);
  }
  edit(attempt: string, path: string, text: string): void {
    if (text === "") delete this.at(attempt).files[path];
    else this.at(attempt).files[path] = text;
  }
  read(attempt: string, path: string): string {
    return this.at(attempt).files[path] ?? "";
  }
  commit(attempt: string, subject: string): void {
    const tree = this.at(attempt);
    tree.head = this.put({ files: { ...tree.files }, parent: tree.head, subject });
    this.refs[tree.branch] = tree.head;
  }
  async gates(attempt: string): Promise<boolean> {
    return (await gate(undefined, attempt, 0)).at(-1)?.result === "pass";
  }
  submit(attempt: string): Promise<void> {
    return submit(handoff("Did it."), attempt);
  }
  giveVerdict(attempt: string, verdict: string, findings: string): Promise<void> {
    return giveVerdict(attempt, verdict, findings, attempt);
  }
  nothing(attempt: string): Promise<void> {
    return submitNothing("It is there.", attempt);
  }
  async end(attempt: string): Promise<string | null> {
    return holdAtEnd(await this.findAttempt("", attempt), "It is done.");
  }

  meanwhile(work: () => Promise<void>): void {
    this.between = work;
  }
  filesAt(commit: string): Files {
    return { ...this.commits[Number(commit)]?.files };
  }
  subjectsTo(commit: string): string[] {
    const { subject = "", parent = "" } = this.commits[Number(commit)] ?? {};
    return parent === "" ? [] : [subject, ...this.subjectsTo(parent)];
  }

  // What takes the place of rails/git, and of what starts processes.
  readonly findPlace = async (top: string): Promise<Place> => ({
    top,
    main: this.main,
    common: "/model/.git",
    gitDir: this.gitDir,
    prefix: "",
  });
  readonly findAttempt = async (_: string, id: string): Promise<Found> => {
    const state = await this.journal.state();
    const attempt = state.attempts.get(id);
    if (!attempt) throw new Fault("no-attempt", id, "");
    return { journal: this.journal, state, attempt };
  };
  readonly attemptOf = async ({ top }: { top: string }): Promise<string | null> =>
    this.at(top).marker;
  readonly ownAttempt = async (top: string): Promise<Own> => {
    this.at(top).marker = top;
    return { place: await this.findPlace(top), ...(await this.findAttempt("", top)) };
  };
  readonly asOfNow = ({ place }: Pick<Own, "place">): Promise<Own> => this.ownAttempt(place.top);
  readonly treeOf = async ({ top }: { top: string }): Promise<string> => treeId(this.at(top).files);
  readonly changedPaths = async (top: string): Promise<string[]> =>
    changed(this.filesAt(this.at(top).head), this.at(top).files);
  readonly commitOf = async (name: string, cwd: string): Promise<string | null> =>
    name === "HEAD" ? this.at(cwd).head : (this.refs[name.replace("refs/heads/", "")] ?? null);
  readonly resultOf = async (base: string, head: string): Promise<Result> => {
    const commits: string[] = [];
    for (let at = head; at !== base; at = this.commits[Number(at)]?.parent ?? base)
      commits.unshift(at);
    if (commits.length === 0) throw new Fault("no-commits", "there is no commit of its own", "");
    const paths = changed(this.filesAt(base), this.filesAt(head));
    return { head, tree: treeId(this.filesAt(head)), commits, paths, deleted: [] };
  };
  readonly gitText = async (top: string, what = "", ...words: string[]): Promise<string> => {
    const [from = "", to = ""] = words.at(-1)?.split("..") ?? [];
    if (what === "rev-list" && words[0] === "--reverse") return this.commitsIn(from, to).join("\n");
    return what === "branch" ? this.at(top).branch : (this.subjectsTo(this.at(top).head)[0] ?? "");
  };
  /** `switch`, to a new branch on a commit, to one that is there, or to a commit and no branch. */
  readonly git = async (top: string, ...words: string[]): Promise<void> => {
    const [name = "", at = ""] = words.includes("-c") ? words.slice(-2) : ["", words.at(-1)];
    if (words[0] !== "switch" || at === "") throw new Error(words.join(" "));
    const head = this.refs[at] ?? at;
    if (name !== "") this.refs[name] = head;
    const branch = name || (this.refs[at] === undefined ? "" : at);
    Object.assign(this.at(top), { branch, head, files: this.filesAt(head) });
  };
  readonly pickOnto = async (_: Place, top: string, commits: readonly string[]) =>
    this.picked(this.at(top), commits);
  /** What a command printed, by the path at which that lies. */
  printedAt(path: string): string {
    return this.prints.get(path.split("/").at(-1) ?? "") ?? "";
  }
  readonly objectionTo = async (
    _: RunState,
    __: unknown,
    { base, head }: { base: string; head: string },
  ) => {
    const isIn = changed(this.filesAt(base), this.filesAt(head)).includes(FORBIDDEN);
    return isIn ? ({ reason: "forbidden", what: [FORBIDDEN] } as const) : null;
  };
  readonly isNoWorse = async (
    _: Journal,
    __: RunState,
    now: Evidence,
    before: Evidence,
  ): Promise<boolean> => {
    const [red = [], known = []] = [now, before].map(({ output }) => this.reds.get(output));
    return now.code === before.code && red.length > 0 && red.every((line) => known.includes(line));
  };
  readonly prove = async (
    at: Pick<Evidence, "by" | "attempts"> & Own,
    command: Command,
  ): Promise<Evidence> => this.proof(this.at(at.place.top).files, at.state, at, command);

  /** Does a job here instead of in a process of its own. */
  readonly attach = async <T>(
    { cwd, job }: { cwd: string; job: string },
    result: (state: RunState) => T | undefined,
  ): Promise<T | undefined> => {
    const found = result(await this.journal.state());
    if (found !== undefined) return found;
    const [what, , name = ""] = job.split(" ");
    if (what === "land") await landAll(this.journal, this.site);
    else await runGateJob(await this.ownAttempt(cwd), name);
    return result(await this.journal.state());
  };

  readonly siteOf = (): Site => this.site;
  private readonly site: Site = {
    merge: async () => ({ skipped: 0 }),
    between: async (from, to) => this.commitsIn(from, to),
    takeBack: async (commits, subject) => {
      const tree = this.at("landing");
      const files = { ...tree.files };
      for (const commit of commits) {
        const { files: after, parent } = this.commits[Number(commit)] as Commit;
        const before = this.filesAt(parent);
        for (const path of changed(before, after)) {
          if (files[path] !== after[path]) return { clash: `clashes in ${path}` };
          if (before[path] === undefined) delete files[path];
          else files[path] = before[path];
        }
      }
      tree.files = files;
      tree.head = this.put({ files, parent: tree.head, subject });
      return { skipped: 0 };
    },
    isLittered: async () => false,
    clear: async () => {},
    keep: async () => {},
    lineAt: async () => this.refs["minion/r1/line"] ?? null,
    isLineAt: async (commit: string) => this.refs["minion/r1/line"] === commit,
    isElsewhere: async () => false,
    objection: async (state, { task, begun, submitted }) =>
      begun && submitted
        ? this.objectionTo(state, task, { base: begun.base, head: submitted.head })
        : null,
    reset: async (head) => {
      this.trees.landing = { branch: "", head, files: this.filesAt(head), marker: null };
    },
    pick: async (commits) => this.picked(this.at("landing"), commits),
    fill: async () => null,
    printed: async (_, __, { run }) => {
      const [, many = ""] = /^seq (\d+)$/.exec(run) ?? [];
      const lines = Array.from({ length: Number(many) }, (_, at) => `${at + 1}\n`);
      return { text: lines.join(""), code: many === "" ? 3 : 0, isFailed: false, output: "" };
    },
    isOn: async (commit: string) => this.at("landing").head === commit,
    tip: async () => ({ commit: this.at("landing").head, tree: treeId(this.at("landing").files) }),
    prove: async ({ state }, attempts, command) => {
      const evidence = this.proof(
        this.at("landing").files,
        state,
        { by: "landing", attempts },
        command,
      );
      await this.between();
      return evidence;
    },
    move: async (from, to) => {
      const chance = this.rand();
      if (chance < 0.05) throw new Error("killed before the line moved");
      if (this.refs["minion/r1/line"] !== from) return false;
      this.refs["minion/r1/line"] = to;
      if (chance < 0.1) throw new Error("killed after the line moved");
      return true;
    },
  };

  private async proof(
    files: Files,
    state: RunState,
    { by, attempts }: Pick<Evidence, "by" | "attempts">,
    { name: gate, run: command, cwd }: Command,
  ): Promise<Evidence> {
    const red = redIn(files, gate, command);
    const output = String(this.reds.size);
    this.prints.set(output, `${countIn(files, command)}\n`);
    this.reds.set(output, red);
    const code = red.length > 0 ? 1 : 0;
    const plain = {
      gate,
      by,
      attempts,
      tree: treeId(files),
      changed: [],
      made: [],
      command,
      cwd,
      setup: "",
      code,
    };
    const evidence = { ...plain, errors: red, untested: false, known: false, ms: 1, output };
    const base = state.evidence.find((each) => each.gate === gate && each.attempts.length === 0);
    const isOld = state.baseAccepted && isRed(evidence) && base !== undefined;
    return {
      ...evidence,
      known: isOld && (await this.isNoWorse(this.journal, state, evidence, base)),
    };
  }

  private commitsIn(from: string, to: string): string[] {
    const own: string[] = [];
    for (let at = to; at !== from; at = this.commits[Number(at)]?.parent ?? from) own.unshift(at);
    return own;
  }

  /** Puts commits on top of what lies in a worktree, all or none. */
  private picked(tree: Tree, commits: readonly string[]) {
    const before = { ...tree };
    for (const commit of commits) {
      const { files, parent, subject } = this.commits[Number(commit)] as Commit;
      const old = this.filesAt(parent);
      const paths = changed(old, files);
      const clash = paths.filter(
        (path) => tree.files[path] !== old[path] && tree.files[path] !== files[path],
      );
      if (clash.length > 0) {
        Object.assign(tree, before);
        return { clash: `clashes in ${clash.join(", ")}` };
      }
      const result = { ...tree.files };
      for (const path of paths)
        if (files[path] === undefined) delete result[path];
        else result[path] = files[path];
      tree.files = result;
      tree.head =
        tree.head === parent ? commit : this.put({ files: result, parent: tree.head, subject });
    }
    return { skipped: 0 };
  }

  private put(commit: Commit): string {
    return String(this.commits.push(commit) - 1);
  }

  private at(top: string): Tree {
    const tree = this.trees[top];
    if (!tree) throw new Fault("not-begun", top, "");
    return tree;
  }
}
