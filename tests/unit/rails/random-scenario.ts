import type { Workflow } from "../../../rails/blueprint/workflow.ts";
import type { Rails } from "../../../rails/foreman/planned.ts";
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
  // What all say that are to be chosen from, where they are of one mind
  readonly fates: Record<string, "nothing" | "silent">;
  readonly workflows: EventData["started"]["workflows"];
  readonly reviews: EventData["started"]["reviews"];
}

/** A random list of tasks, with files that each says and files that it really touches.
 * @param isMixed also tasks that are done in rounds, chosen from, planned as they go, or listed */
export function scenarioOf(seed: number, most: number, isMixed = false): Scenario {
  const rand = random(seed);
  const whole = (least: number, greatest: number) =>
    least + Math.floor(rand() * (greatest - least + 1));
  const ids = Array.from({ length: whole(2, most) }, (_, index) => String(index + 1));
  const halves: Record<string, string> = {};
  const touched: Record<string, string[]> = {};
  const fates: Scenario["fates"] = {};
  const items = ids.map((id, index) => {
    const depends = ids.slice(0, index).filter(() => rand() < 0.2);
    const said = POOL.filter(() => rand() < 0.3);
    const real = rand() < 0.6 ? said : POOL.filter(() => rand() < 0.3);
    touched[id] = [...real, `src/t${id}.txt`];
    if (rand() < 0.4) halves[id] = "half 1\n";
    const files = rand() < 0.1 ? ["src/"] : said;
    const kind = isMixed ? pick(rand, KINDS) : "plain";
    if (kind === "variants" && rand() < 0.4) fates[id] = pick(rand, ["nothing", "silent"] as const);
    const fields = [
      depends.length > 0 ? `Depends: ${depends.join(", ")}` : "",
      files.length > 0 && kind !== "each" ? `Files: ${files.join(", ")}` : "",
      `Forbid: ${FORBIDDEN}`,
      ...(isMixed ? fieldsOf(kind, id, rand) : []),
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
    end_rounds: isMixed ? whole(1, 3) : 3,
    planned: isMixed ? whole(2, 12) : 200,
    depth: isMixed ? whole(1, 3) : 3,
  };
  const repeats = isMixed
    ? {
        loop: phasesOf(`- {name: implement, rounds: ${whole(2, 6)}}`),
        variants: phasesOf(
          `- {name: ways, writes: false}\n- {name: implement, variants: ${whole(2, 4)}}\n- {name: choose, picks: implement}`,
        ),
        area: phasesOf(`- {name: plan, tasks: ${whole(1, 3)}, rounds: ${whole(1, 4)}}`),
        look: phasesOf("- {name: look, writes: false}"),
      }
    : {};
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
    fates,
    workflows: { "": pick(rand, WORKFLOWS), ...repeats },
    reviews: { medium: reviewIn(JUDGED, "medium") },
  };
}

/** What tasks that are new get their workflow from: the scenario's one, unless they name another. */
export const railsOf = ({ blueprint, workflows }: Scenario): Rails => {
  const pages = Object.entries(workflows).map(
    ([name, phases]) => ({ name, about: "", for: [{}], phases }) as unknown as Workflow,
  );
  const all = new Map(pages.map((page) => [page.name, page]));
  return { blueprint, overlays: new Map(), all, order: pages.slice(0, 1), prefix: "" };
};

/** What a task can be; half of them are as they ever were. */
const KINDS = ["plain", "plain", "plain", "loop", "variants", "area", "each", "look"] as const;

/** The file that is a task's own. */
export const ownFile = (id: string): string => `src/t${id.replaceAll("/", "-")}.txt`;

/** Green after so many edits of the task's own file. */
const edited = (id: string, least: number): string =>
  `Verify: \`test $(grep -c edit ${ownFile(id)}) -ge ${least}\``;

/** Green once so many parts of a task have landed. */
const parted = (id: string, least: number): string =>
  `Verify: \`test $(ls src | grep -c t${id}-) -ge ${least}\``;

/** More edits than anybody makes. */
const NEVER = 99;

/** What a task of a kind says beside its files. */
function fieldsOf(kind: (typeof KINDS)[number], id: string, rand: () => number): string[] {
  const some = (...fields: string[]): string[] => (rand() < 0.5 ? fields : []);
  switch (kind) {
    case "plain":
      return rand() < 0.2 ? [edited(id, pick(rand, [1, 2]))] : [];
    case "loop":
      return ["Workflow: loop", edited(id, pick(rand, [1, 2, 3, 4, 5, NEVER]))];
    case "variants":
      return ["Workflow: variants", ...some(`Measure: lowest grep -c edit ${ownFile(id)}`)];
    case "area":
      return ["Workflow: area", ...some(parted(id, pick(rand, [1, 2, NEVER])))];
    case "look":
      return ["Workflow: look"];
    case "each":
      return [
        `Each: ${pick(rand, [0, 1, 2, 3, 4, 5].map((many) => `seq ${many}`).concat("exit 3"))}`,
        `Files: ${ownFile(id).replace(".", "-{}.")}`,
        ...some(pick(rand, [edited(`${id}/{}`, 1), parted(id, 1), parted(id, NEVER)])),
        ...some(`Workflow: ${pick(rand, ["loop", "variants"])}`),
      ];
  }
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
