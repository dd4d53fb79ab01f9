import { livingPlan } from "./living.ts";

// As people have it in a terminal; by night in both modes, also with sessions that are killed.
livingPlan("auto", false);
