import type { EventData } from "../../../rails/journal/events.ts";
import { reviewIn } from "../../../rails/journal/phases.ts";
import { pick, random } from "../plan/random.ts";
import { phasesOf, SHIPPED } from "./run.ts";
/** Red where a line says LINT or FAIL, or where two files say the same `half`: each is green alone.
 */
export const GATES = [
  { name: "lint", run: "! cat src/* | grep LINT" },
  {
    name: "test",
    run: 'red=$(cat src/* | grep FAIL; cat src/* | grep "^half" | sort | uniq -d | sed "s/^/FAIL /"); echo "$red"; test -z "$red"',
  },
];

export interface Scenario {
  readonly list: string;
  readonly files: Record<string, string>; // On the base
  readonly blueprint: typeof SHIPPED;
  readonly halves: Record<string, string>; // The `half` that a task's own file says
  readonly touched: Record<string, string[]>; // What each task's workers really touch
  readonly workflows: EventData["started"]["workflows"];
  readonly reviews: EventData["started"]["reviews"];
}

/** A random list of tasks, with files that each says and files that it really touches. */
export function scenarioOf(seed: number, most: number): Scenario {
  const rand = random(seed);
  const whole = (least: number, greatest: number) =>
    least + Math.floor(rand() * (greatest - least + 1));
  const ids = Array.from({ length: whole(2, most) }, (_, index) => String(index + 1));
  const halves: Record<string, string> = {};
  const touched: Record<string, string[]> = {};
  const items = ids.map((id, index) => {
    const depends = ids.slice(0, index).filter(() => rand() < 0.2);
    const said = POOL.filter(() => rand() < 0.3);
    const real = rand() < 0.6 ? said : POOL.filter(() => rand() < 0.3);
    touched[id] = [...real, `src/t${id}.txt`];
    if (rand() < 0.4) halves[id] = "half 1\n";
    const files = rand() < 0.1 ? ["src/"] : said;
    const fields = [
      depends.length > 0 ? `Depends: ${depends.join(", ")}` : "",
      files.length > 0 ? `Files: ${files.join(", ")}` : "",
      `Forbid: ${FORBIDDEN}`,
    ];
    return `### Task ${id}: Do ${id}\n${fields.filter(Boolean).join("\n")}\n`;
  });
  const bounds = {
    failures: whole(1, 3),
    attempts: whole(1, 3),
    send_backs: whole(0, 2),
    workers: whole(1, 4),
    dispatches: whole(1, 3),
    cycles: whole(0, 2),
    lease: 10,
    gate_slots: 0,
    added: 50,
    end_rounds: 3,
    planned: 200,
    depth: 3,
  };
  const base = Object.fromEntries(POOL.map((path) => [path, "base\n"]));
  return {
    list: items.join(""),
    files: { ...base, ...(rand() < 0.15 ? { "src/old.txt": "FAIL old\n" } : {}) },
    // What touches one of the files is looked at, where the task goes that way.
    blueprint: {
      ...SHIPPED,
      bounds,
      gates: GATES,
      risks: [{ risk: "medium", words: [], paths: ["src/d.txt"] }],
    },
    halves,
    touched,
    workflows: { "": pick(rand, WORKFLOWS) },
    reviews: { medium: reviewIn(JUDGED, "medium") },
  };
}

/** Ways through a task; most are short. */
const WORKFLOWS = [
  ...Array.from({ length: 5 }, () => "- name: implement"),
  "- {name: test, red: [test]}\n- name: implement",
  "- {name: plan, writes: false}\n- name: implement",
  "- name: implement\n- {name: review, writes: false, back: fix}\n- name: fix",
  "- {name: plan, writes: false}\n- name: implement\n- {name: review, writes: false, back: implement}",
  "- name: implement\n- {name: review, writes: false, back: fix, risk: medium}\n- name: fix",
  "- {name: test, gates: [lint]}\n- name: implement\n- {name: review, writes: false, back: fix}\n- name: fix",
].map(phasesOf);

const JUDGED = phasesOf(
  "- name: implement\n- {name: review, writes: false, back: fix}\n- name: fix",
);

export const POOL = ["src/a.txt", "src/b.txt", "src/c.txt", "src/d.txt"];

export const FORBIDDEN = "src/forbidden.txt";
