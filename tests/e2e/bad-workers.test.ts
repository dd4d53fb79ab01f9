import { badWorkers } from "./bad-workers.ts";

// The other mode by night.
badWorkers("default");
