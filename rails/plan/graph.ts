import { DepGraph, type DepGraphCycleError } from "dependency-graph";
import { type Dependent, dependentsOf, linksOf, longestChains, longestOf } from "./dependencies.ts";
import { type Finding, finding, type Task } from "./task.ts";

/** `dependsLine`: where the dependencies stand, if not on the task's own line. */
type Node = Pick<Task, "id" | "depends" | "done" | "line"> & { readonly dependsLine?: number };

/** What follows from who depends on whom. */
export type Graph = Readonly<{
  findings: Finding[];
  waves: string[][]; // None while there is a cycle
  criticalPath: string[];
  /** Does one of the two depend on the other, by however many steps? Not to be asked where there is
   * a cycle. */
  ordered: (one: string, other: string) => boolean;
}>;

/** Reads who depends on whom; tasks that are done count for nothing. In a wave the list's order
 * holds, and of several longest chains the critical path is the first. */
export function readGraph(all: readonly Node[]): Graph {
  const findings: Finding[] = [];
  const known = knownTasks(all, findings);
  const graph = openTasks(known, findings);
  const order = orderOf(graph, findings);

  const open = [...known.keys()].filter((id) => graph.hasNode(id));
  const links = open.map((id) => ({ id, depends: graph.directDependenciesOf(id) }));
  const dependents = dependentsOf(links);
  const behind = longestChains(order, (id) => graph.directDependenciesOf(id));
  const ahead = longestChains(order.toReversed(), (id) => dependents.get(id) ?? []);
  const longest = longestOf(ahead, open);

  const waves = Array.from({ length: longest?.length ?? 0 }, (): string[] => []);
  for (const id of open) waves[(behind.get(id)?.length ?? 0) - 1]?.push(id);
  return { findings, waves, criticalPath: linksOf(longest), ordered: relation(links, order) };
}

/** The tasks by their ids, without those whose id an earlier one has: that is an error. */
function knownTasks(all: readonly Node[], findings: Finding[]): Map<string, Node> {
  const known = new Map<string, Node>();
  const lines = new Map<string, number>();
  for (const task of all) {
    const key = task.id.toLowerCase();
    const earlier = lines.get(key);
    if (earlier) {
      const message = `task ${task.id} is already on line ${earlier}`;
      findings.push(finding("duplicate-id", task.line, message, "rename one"));
      continue;
    }
    lines.set(key, task.line);
    known.set(task.id, task);
  }
  return known;
}

/** The graph of what is not done. A dependency that makes no sense is an error, and is left out. */
function openTasks(known: ReadonlyMap<string, Node>, findings: Finding[]): DepGraph<Node> {
  const graph = new DepGraph<Node>();
  for (const [id, task] of known) if (!task.done) graph.addNode(id, task);
  const some = [...known.keys()].slice(0, 12).join(", ");

  for (const task of known.values())
    for (const [index, id] of task.depends.entries()) {
      const wrong = (code: string, message: string, hint: string) =>
        findings.push(finding(code, lineOf(task), `task ${task.id} ${message}`, hint));
      if (task.depends.indexOf(id) < index)
        wrong("duplicate-dependency", `names ${id} twice`, "name it once");
      else if (!known.has(id))
        wrong("unknown-dependency", `needs ${id}: no such task`, `there are ${some}`);
      else if (id === task.id) wrong("self-dependency", "depends on itself", "take it out");
      else if (graph.hasNode(task.id) && graph.hasNode(id)) graph.addDependency(task.id, id);
    }
  return graph;
}

/** The ids, each after what it depends on. None where there is a cycle: that is an error. */
function orderOf(graph: DepGraph<Node>, findings: Finding[]): string[] {
  try {
    return graph.overallOrder();
  } catch (thrown) {
    // The path may come from outside to the cycle that it ends in.
    const { cyclePath } = thrown as DepGraphCycleError;
    const cycle = cyclePath.slice(cyclePath.indexOf(cyclePath.at(-1) as string));
    const line = lineOf(graph.getNodeData(cycle[0] as string));
    const message = `${cycle.join(" → ")}: each depends on the next`;
    findings.push(finding("cycle", line, message, "take one of these dependencies out"));
    return [];
  }
}

const lineOf = ({ dependsLine, line }: Node): number => dependsLine ?? line;

/** Answers whether one of two depends on the other.
 * @param order the ids, each after what it depends on */
function relation(links: readonly Dependent[], order: readonly string[]): Graph["ordered"] {
  const depends = new Map(links.map((link) => [link.id, link.depends]));
  const at = new Map(order.map((id, index) => [id, index]));
  // One bit for each task that comes before, by its place in the order: an eighth of a byte a pair,
  // 6 MB for 10,000 tasks.
  const before: bigint[] = [];
  for (const id of order) {
    let bits = 0n;
    for (const one of depends.get(id) ?? []) {
      const place = at.get(one) ?? 0;
      bits |= (before[place] ?? 0n) | (1n << BigInt(place));
    }
    before.push(bits);
  }
  return (one, other) => {
    const places = [at.get(one) ?? -1, at.get(other) ?? -1];
    const first = Math.min(...places);
    const last = Math.max(...places);
    return (((before[last] ?? 0n) >> BigInt(first)) & 1n) === 1n;
  };
}
