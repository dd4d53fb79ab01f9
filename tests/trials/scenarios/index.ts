import { readFileSync } from "node:fs";
import { named, untouched } from "../left.ts";
import type { Scenario } from "../scenario.ts";
import { AREAS } from "./area.ts";
import { CHOICE } from "./choice.ts";
import { LIVING } from "./living.ts";
import { LOOP } from "./loop.ts";
import { ORCHESTRATOR } from "./orchestrator.ts";
import { WORKER } from "./worker.ts";

/** The demo's tasks with no script in it. */
const DEMO: Scenario = {
  plays: "everyone",
  files: "sample",
  words: readFileSync("demo/tasks.md", "utf8"),
  judge: (left) => {
    const { moved, decided } = untouched(left, true);
    return { kept: !moved && decided === 0, moved, decided, attempts: named(left, "begun").length };
  },
};

/** All moments at which a model is tried, by name. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  ...ORCHESTRATOR,
  ...LIVING,
  ...WORKER,
  ...LOOP,
  ...CHOICE,
  ...AREAS,
  demo: DEMO,
};
