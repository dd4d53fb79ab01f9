import { Graph, layout } from "@dagrejs/dagre";
import type { State } from "../../journal/shapes.ts";
import { cell, clock } from "../text.ts";
import type { PageData } from "./data.ts";
import { el, type Html } from "./markup.ts";

// A run's pictures as SVG, drawn where the page is made.

/** What a link to a task leads to. Ids are others' words: what is no plain sign stands as its number.
 */
export const anchorOf = (id: string): string =>
  `task-${id.replace(/[^\w./-]/gu, (char) => `_${char.codePointAt(0)?.toString(16)}`)}`;

// What the layout gives, whose own types cannot be read.
type Point = Readonly<{ x: number; y: number }>;
type Line = Readonly<{ points?: readonly Point[]; isPart?: boolean }>;

type Size = Readonly<{ width: number; height: number }>;

const BOX = { width: 190, height: 40 };
const GAP = 8;
/** From one box to the next, where nothing hangs on them. */
const STEP = { x: BOX.width + 16, y: BOX.height + 10 };
/** So many of those stand side by side. */
const ACROSS = 5;
/** More boxes are no picture any more. */
const BOXES = 150;
const LETTERS = 25;

/** The tasks with their states, arrows to what depends on them; dashed lines lead to what a task is
 * made of. Those on which nothing hangs stand below, side by side. Null where there is nothing to
 * see, or too much. */
export function graphPicture(nodes: PageData["graph"]): Html | null {
  if (nodes.length < 2 || nodes.length > BOXES) return null;
  const linked = new Set(
    nodes.flatMap(({ id, depends, part }) =>
      depends.length > 0 || part !== null ? [id, ...depends, ...(part === null ? [] : [part])] : [],
    ),
  );
  const inside = nodes.filter(({ id }) => linked.has(id));
  const alone = nodes.filter(({ id }) => !linked.has(id));
  const graph = laidOut(inside);
  const { width, height }: Size = inside.length > 0 ? graph.graph() : { width: 0, height: 0 };
  const edges: readonly Readonly<{ v: string; w: string }>[] = graph.edges();
  const lines = edges.map((edge) => {
    const { points = [], isPart = false }: Line = graph.edge(edge);
    const path = points.map(({ x, y }, at) => `${at === 0 ? "M" : "L"}${round(x)} ${round(y)}`);
    const arrow = isPart ? null : "url(#arrow)";
    const name = isPart ? "edge part" : "edge";
    return el("path", { class: name, d: path.join(""), "marker-end": arrow });
  });
  const boxes = inside.map((node, at) => {
    const { x, y }: Point = graph.node(`${at}`);
    return box(node, x - BOX.width / 2, y - BOX.height / 2);
  });
  const others = alone.map((node, at) =>
    box(node, GAP + (at % ACROSS) * STEP.x, height + GAP + Math.floor(at / ACROSS) * STEP.y),
  );
  const across = Math.min(alone.length, ACROSS) * STEP.x + GAP;
  const down = Math.ceil(alone.length / ACROSS) * STEP.y + GAP;
  return svg(
    "graph",
    "The tasks, and what depends on what",
    Math.ceil(Math.max(width, across)),
    Math.ceil(height + down),
    el("defs", {}, arrowHead()),
    lines,
    boxes,
    others,
  );
}

/** Boxes that hang together, each under its number: ids are others' words. */
function laidOut(nodes: PageData["graph"]): Graph {
  const graph = new Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 12, ranksep: 48, marginx: GAP, marginy: GAP });
  graph.setDefaultEdgeLabel(() => ({}));
  const numbers = new Map(nodes.map(({ id }, at) => [id, `${at}`]));
  for (const at of nodes.keys()) graph.setNode(`${at}`, { ...BOX });
  for (const [at, { depends, part }] of nodes.entries()) {
    for (const one of depends) graph.setEdge(numbers.get(one) ?? "", `${at}`, {});
    if (part !== null) graph.setEdge(numbers.get(part) ?? "", `${at}`, { isPart: true });
  }
  layout(graph);
  return graph;
}

function arrowHead(): Html {
  const place = { viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7 };
  const head = el("path", { class: "head", d: "M0 0L8 4L0 8z" });
  return el("marker", { id: "arrow", ...place, orient: "auto" }, head);
}

const round = (value: number): number => Math.round(value * 10) / 10;

function box({ id, title, state }: PageData["graph"][number], x: number, y: number): Html {
  return el(
    "a",
    { href: `#${anchorOf(id)}`, class: `box ${classOf(state)}` },
    el("title", {}, `${id} ${title}: ${state}`),
    el("rect", { x: round(x), y: round(y), width: BOX.width, height: BOX.height, rx: 5 }),
    el(
      "text",
      { class: "name", x: round(x + 8), y: round(y + 16) },
      clipped(`${id} ${title}`, LETTERS),
    ),
    el("text", { class: "state", x: round(x + 8), y: round(y + 32) }, state),
  );
}

/** How a state looks, beside its word. */
export const classOf = (state: State): string => `is-${state}`;

const clipped = (text: string, most: number): string => cell(text, most).trimEnd();

const ROW = 20;
const LABEL = 200;
const WIDTH = 1000;
const HEAD = 24;

/** When who worked at what, and when the line grew. Null where nobody worked. */
export function timePicture({ from, to, rows, landings }: PageData["time"]): Html | null {
  if (rows.length === 0) return null;
  const scale = (at: number): number =>
    round(LABEL + ((Math.min(Math.max(at, from), to) - from) / (to - from)) * (WIDTH - LABEL - 8));
  const height = HEAD + rows.length * ROW + 8;
  const ticks = ticksIn(to - from).map((ms) => [
    el("path", { class: "tick", d: `M${scale(from + ms)} ${HEAD - 4}V${height}` }),
    el("text", { class: "state", x: scale(from + ms) + 3, y: HEAD - 9 }, clock(ms)),
  ]);
  const grown = landings.map(({ at, words }) =>
    el(
      "path",
      { class: "landing", d: `M${scale(at)} ${HEAD - 4}V${height}` },
      el("title", {}, `${clock(at - from)}: ${words}`),
    ),
  );
  const all = rows.map(({ id, title, bars }, at) => {
    const y = HEAD + at * ROW;
    return el(
      "a",
      { href: `#${anchorOf(id)}`, class: "row" },
      el("text", { class: "name", x: 4, y: y + 14 }, clipped(`${id} ${title}`, LETTERS)),
      bars.map((bar) =>
        el(
          "rect",
          {
            class: `bar ${bar.kind}`,
            x: scale(bar.from),
            y: y + 3,
            width: Math.max(2, round(scale(bar.to) - scale(bar.from))),
            height: ROW - 6,
            rx: 2,
          },
          el("title", {}, `${bar.words}, ${clock(bar.to - bar.from)}`),
        ),
      ),
    );
  });
  return svg("time", "When who worked at what", WIDTH, height, ticks, grown, all);
}

/** Steps of a time line, in minutes. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 1440, 2880, 10_080, 40_320];

/** So many marks fit beside one another. */
const MARKS = 10;

function ticksIn(ms: number): number[] {
  const minute = 60_000;
  const step = (STEPS.find((each) => ms / (each * minute) <= MARKS) ?? 525_600) * minute;
  return Array.from({ length: Math.floor(ms / step) + 1 }, (_, at) => at * step);
}

const svg = (
  name: string,
  label: string,
  width: number,
  height: number,
  ...children: Parameters<typeof el>[2][]
): Html =>
  el(
    "svg",
    {
      class: `picture ${name}`,
      role: "group",
      "aria-label": label,
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
    },
    ...children,
  );
