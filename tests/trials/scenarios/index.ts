import type { Scenario } from "../trial.ts";
import { ORCHESTRATOR } from "./orchestrator.ts";
import { WORKER } from "./worker.ts";

/** All moments at which a model is tried, by name. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = { ...ORCHESTRATOR, ...WORKER };
