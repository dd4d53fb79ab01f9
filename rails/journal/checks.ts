import type { Phase } from "../blueprint/workflow.ts";
import { isArea } from "./family.ts";
import { isPass } from "./passed.ts";
import { straight } from "./phases.ts";
import type { Command } from "./shapes.ts";
import type { RunState, TaskState } from "./state.ts";

/** Seconds that a command may take of which nothing is said: builds and suites of large projects
 * take that long. */
export const TIMEOUT = 1800;

/** What a check is called among a task's gates. */
const NAME = "verify";

type Run = Pick<RunState, "gates" | "prefix" | "baseRed">;

/** A task, as far as its own checks go. */
type Checked = Pick<TaskState, "checks" | "each">;

/** The commands of a task's `Verify:`, as gates of that task alone; none that is a gate of all
 * anyway, unless that one is red on the base: then what fails there as well counts here. Of one with
 * `Each:` those of the whole: what holds `{}` is of each that it lists. */
export function checksOf(run: Run, { checks, each }: Checked): Command[] {
  // A journal of before holds words in that place.
  const own = [...new Set(checks ?? [])].filter(
    (command) => !isGate(run, command) && !(each && command.includes("{}")),
  );
  return own.map((command, at) => ({
    name: nameOf(run, own.length > 1 ? at + 1 : 0),
    run: command,
    cwd: run.prefix,
    timeout: TIMEOUT,
    isCheck: true,
  }));
}

/** Is a command a gate that runs for each task, and has to be green for each? */
const isGate = ({ gates, prefix, baseRed }: Run, command: string): boolean =>
  gates.some(
    ({ name, run, cwd, isLast }) =>
      run === command && cwd === prefix && !isLast && !baseRed?.includes(name),
  );

/** The gates that are red on the base and that a task is there to make green. */
export const mendedBy = ({ gates, prefix }: Run, { checks }: Pick<TaskState, "checks">): string[] =>
  gates.filter(({ run, cwd }) => cwd === prefix && checks?.includes(run)).map(({ name }) => name);

/** `verify`, or `verify-2`; another word where a gate is called so. */
function nameOf({ gates }: Run, number: number): string {
  const isTaken = gates.some(({ name }) => name.startsWith(NAME));
  const name = isTaken ? `task-${NAME}` : NAME;
  return number > 0 ? `${name}-${number}` : name;
}

/** Was a check run on the base? */
export const isLookedAt = ({ evidence }: Pick<RunState, "evidence">, { run }: Command): boolean =>
  evidence.some(({ command, attempts }) => command === run && attempts.length === 0);

/** The checks of a task that were green before anything of it was on the line: they show nothing. */
export function greenBefore(state: RunState, task: TaskState): string[] {
  const [first] = task.attempts.flatMap(({ begun }) => begun ?? []);
  // What others do for an area lands from its planner's first visit on.
  const since = (isArea(task) ? first?.at : task.endedAt) || Number.POSITIVE_INFINITY;
  const isGreen = ({ run }: Command): boolean =>
    isPass(
      state.evidence.findLast(
        ({ command, attempts, at }) => command === run && attempts.length === 0 && at < since,
      ),
    );
  return checksOf(state, task)
    .filter(isGreen)
    .map(({ run }) => run);
}

/** Does a task's `Verify:` bind a phase of it? The last that writes, and whatever mends that; none
 * before: tests that are to be made pass have to be red. */
export function isBound({ phases }: Pick<TaskState, "phases">, phase: Phase): boolean {
  const last = straight(phases).findLast(({ writes }) => writes);
  return phase === last || phases.some(({ back }) => back === phase.name);
}

/** The checks of some tasks, each command once, with the tasks that it is of. */
export function checksOfAll(
  run: Run,
  tasks: readonly (Checked & Pick<TaskState, "id">)[],
): { command: Command; tasks: string[] }[] {
  const found = new Map<string, { command: Command; tasks: string[] }>();
  for (const task of tasks)
    for (const command of checksOf(run, task)) {
      const known = found.get(command.run);
      if (known) known.tasks.push(task.id);
      else found.set(command.run, { command, tasks: [task.id] });
    }
  return [...found.values()];
}
