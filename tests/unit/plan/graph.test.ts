import { describe, expect, test } from "vitest";
import { readGraph } from "../../../rails/plan/graph.ts";
import { pick, random } from "./random.ts";

interface Node {
  id: string;
  depends: string[];
  done: boolean;
  line: number;
}
const nodes = (edges: Record<string, string[]>): Node[] =>
  Object.entries(edges).map(([id, depends], index) => ({
    id,
    depends,
    done: false,
    line: index + 1,
  }));

describe("against a naive reading of random graphs", () => {
  const next = random(3);
  const graphs = Array.from({ length: 400 }, (_, round) => {
    const size = 1 + Math.floor(next() * 9);
    const ids = Array.from({ length: size }, (_, index) => `t${index}`);
    // Every second one may have cycles.
    return ids.map(
      (id, index): Node => ({
        id,
        depends: [
          ...new Set(
            ids.filter(
              (_, other) => other !== index && (round % 2 || other < index) && next() < 1.3 / size,
            ),
          ),
        ],
        done: next() < 0.1,
        line: index + 1,
      }),
    );
  });
  const open = (list: Node[]) => {
    const ids = new Set(list.filter(({ done }) => !done).map(({ id }) => id));
    return new Map(
      list
        .filter(({ done }) => !done)
        .map(({ id, depends }) => [id, depends.filter((one) => ids.has(one))]),
    );
  };
  const reach = (
    edges: Map<string, string[]>,
    from: string,
    seen = new Set<string>(),
  ): Set<string> => {
    for (const one of edges.get(from) ?? []) if (!seen.has(one)) reach(edges, one, seen.add(one));
    return seen;
  };
  const depth = (edges: Map<string, string[]>, id: string): number =>
    1 + Math.max(0, ...(edges.get(id) ?? []).map((one) => depth(edges, one)));

  test("cycles are told where there are any, and each told one is there", () => {
    let cyclic = 0;
    for (const list of graphs) {
      const edges = open(list);
      const { findings, waves } = readGraph(list);
      const isCyclic = [...edges.keys()].some((id) => reach(edges, id).has(id));
      cyclic += Number(isCyclic);
      expect(findings.some(({ code }) => code === "cycle")).toBe(isCyclic);
      expect(waves.length === 0).toBe(isCyclic || edges.size === 0);
      for (const { message } of findings) {
        const path = (message.split(":")[0] ?? "").split(" → ");
        expect(path[0]).toBe(path.at(-1));
        for (const [index, id] of path.slice(0, -1).entries())
          expect(edges.get(id)).toContain(path[index + 1]);
      }
    }
    expect(cyclic).toBeGreaterThan(50);
  });
  test("waves, critical path, order", () => {
    for (const list of graphs) {
      const edges = open(list);
      const graph = readGraph(list);
      if (graph.findings.length > 0) continue;
      for (const id of edges.keys()) {
        expect(graph.waves[depth(edges, id) - 1]).toContain(id);
        for (const other of edges.keys())
          expect(graph.ordered(id, other)).toBe(
            reach(edges, id).has(other) || reach(edges, other).has(id),
          );
      }
      expect(graph.waves.flat()).toHaveLength(edges.size);
      expect(graph.criticalPath).toHaveLength(
        Math.max(0, ...[...edges.keys()].map((id) => depth(edges, id))),
      );
      for (const [index, id] of graph.criticalPath.slice(1).entries())
        expect(edges.get(id)).toContain(graph.criticalPath[index]);
    }
  });
});

test("the same list gives the same answer, ties in the list's order", () => {
  const graph = readGraph(nodes({ z: [], a: [], m: ["z", "a"], b: ["a"], c: ["m", "b"] }));
  expect(graph.waves).toEqual([["z", "a"], ["m", "b"], ["c"]]);
  expect(graph.criticalPath).toEqual(["z", "m", "c"]);
  expect(readGraph(nodes({ x: [], y: [], p: ["y"], q: ["x"] })).waves[1]).toEqual(["p", "q"]);
});

test("a cycle is told without the way to it, where its dependencies stand; a second one when the first is mended", () => {
  const list = nodes({ x: ["a"], a: ["b"], b: ["a"], c: ["d", "a"], d: ["e"], e: ["c"], f: ["a"] });
  const tell = (some: Node[]) => {
    const { findings } = readGraph(some.map((node) => ({ ...node, dependsLine: node.line * 10 })));
    return findings.map(({ message, line }) => [message.split(":")[0], line]);
  };
  expect(tell(list)).toEqual([["a → b → a", 20]]);
  expect(tell(list.map((node) => (node.id === "b" ? { ...node, depends: [] } : node)))).toEqual([
    ["c → d → e → c", 40],
  ]);
});

test("one knot is told once, not by each of its ways", () => {
  expect(readGraph(nodes({ a: ["b"], b: ["a", "c"], c: ["a", "b"] })).findings).toHaveLength(1);
});

test("a chain, a fan and a cycle of 2,000 tasks", () => {
  const size = 2_000;
  const chain = Array.from({ length: size }, (_, i) => ({
    id: `t${i}`,
    depends: i ? [`t${i - 1}`] : [],
    done: false,
    line: i + 1,
  }));
  const graph = readGraph(chain.toReversed());
  expect(graph.criticalPath).toHaveLength(size);
  expect(graph.ordered("t0", `t${size - 1}`)).toBe(true);
  const fan = chain.map((node, i) => ({ ...node, depends: i ? ["t0"] : [] }));
  expect(readGraph(fan).waves.map((wave) => wave.length)).toEqual([1, size - 1]);
  const cycle = chain.map((node, i) => ({ ...node, depends: [`t${(i + 1) % size}`] }));
  expect(readGraph(cycle).findings).toHaveLength(1);
  const many = random(5);
  const web = chain.map((node, i) => ({
    ...node,
    depends: i ? [...new Set([pick(many, chain.slice(0, i)).id, chain[i - 1]?.id ?? ""])] : [],
  }));
  expect(readGraph(web).ordered("t0", `t${size - 1}`)).toBe(true);
});
