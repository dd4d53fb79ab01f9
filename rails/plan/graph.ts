import { DepGraph, type DepGraphCycleError } from "dependency-graph";
import { type Finding, finding, type Task } from "./task.ts";

/** `dependsLine`: where the dependencies stand, if not on the task's own line. */
type Node = Pick<Task, "id" | "depends" | "done" | "line"> & { readonly dependsLine?: number };

const lineOf = ({ dependsLine, line }: Node) => dependsLine ?? line;

/** What follows from who depends on whom; tasks that are done count for nothing. No waves while
 * there is a cycle. Of several longest chains the critical path is the first. */
export function readGraph(all: readonly Node[]) {
  const findings: Finding[] = [];
  const error = (...what: Parameters<typeof finding>) => findings.push(finding(...what));
  const known = new Map<string, Node>();
  const lines = new Map<string, number>();
  const graph = new DepGraph<Node>();
  for (const task of all) {
    const twin = lines.get(task.id.toLowerCase());
    lines.set(task.id.toLowerCase(), twin ?? task.line);
    if (twin)
      error("duplicate-id", task.line, `task ${task.id} is already on line ${twin}`, "rename one");
    else known.set(task.id, task);
    if (!twin && !task.done) graph.addNode(task.id, task);
  }
  const some = [...known.keys()].slice(0, 12).join(", ");
  for (const [self, task] of known)
    for (const [index, id] of task.depends.entries()) {
      const wrong = (code: string, message: string, hint: string) =>
        error(code, lineOf(task), `task ${self} ${message}`, hint);
      if (task.depends.indexOf(id) < index)
        wrong("duplicate-dependency", `names ${id} twice`, "name it once");
      else if (!known.has(id))
        wrong("unknown-dependency", `needs ${id}: no such task`, `there are ${some}`);
      else if (id === self) wrong("self-dependency", "depends on itself", "take it out");
      else if (graph.hasNode(self) && graph.hasNode(id)) graph.addDependency(self, id);
    }

  let order: string[] = [];
  try {
    order = graph.overallOrder();
  } catch (thrown) {
    // The path may come from outside to the cycle that it ends in.
    const { cyclePath } = thrown as DepGraphCycleError;
    const cycle = cyclePath.slice(cyclePath.indexOf(cyclePath.at(-1) as string));
    const line = lineOf(graph.getNodeData(cycle[0] as string));
    error(
      "cycle",
      line,
      `${cycle.join(" → ")}: each depends on the next`,
      "take one of these dependencies out",
    );
  }
  const wave = longestTo(order, (id) => graph.directDependenciesOf(id));
  const remaining = longestTo(order.toReversed(), (id) => graph.directDependantsOf(id));
  const waves = Array.from({ length: Math.max(0, ...wave.values()) }, (): string[] => []);
  for (const id of known.keys()) waves[(wave.get(id) ?? 0) - 1]?.push(id);
  const criticalPath: string[] = [];
  for (let choice = [...known.keys()], left = waves.length; left > 0; left--) {
    const next = choice.find((id) => remaining.get(id) === left) as string;
    criticalPath.push(next);
    choice = graph.directDependantsOf(next);
  }
  // One bit for each task that comes before, by its place in the order: an eighth of a byte a pair,
  // 6 MB for 10,000 tasks.
  const at = new Map(order.map((id, index) => [id, index]));
  const before: bigint[] = [];
  for (const id of order) {
    const direct = graph.directDependenciesOf(id).map((one) => at.get(one) ?? 0);
    before.push(direct.reduce((all, one) => all | (before[one] ?? 0n) | (1n << BigInt(one)), 0n));
  }
  return {
    findings,
    waves,
    criticalPath,
    /** Does one of the two depend on the other, by however many steps? Not to be asked where there
     * is a cycle. */
    ordered: (one: string, other: string): boolean => {
      const [first = 0, last = 0] = [at.get(one) ?? -1, at.get(other) ?? -1].sort((a, b) => a - b);
      return (((before[last] ?? 0n) >> BigInt(first)) & 1n) === 1n;
    },
  };
}

/** The length of the longest chain that ends with each; `order` has what leads to one before it. */
function longestTo(
  order: readonly string[],
  leading: (id: string) => readonly string[],
): Map<string, number> {
  const lengths = new Map<string, number>();
  for (const id of order)
    lengths.set(id, 1 + Math.max(0, ...leading(id).map((one) => lengths.get(one) ?? 0)));
  return lengths;
}
