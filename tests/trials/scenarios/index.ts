import { readFileSync } from "node:fs";
import type { Scenario } from "../trial.ts";
import { ORCHESTRATOR } from "./orchestrator.ts";
import { WORKER } from "./worker.ts";

/** The demo's tasks with no script in it. */
const DEMO: Scenario = {
  plays: "everyone",
  files: "sample",
  words: readFileSync("demo/tasks.md", "utf8"),
  judge: ({ stage }) => ({ kept: stage.named("landed").length > 0, attempts: stage.named("begun").length }),
};

/** All moments at which a model is tried, by name. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = { ...ORCHESTRATOR, ...WORKER, demo: DEMO };
