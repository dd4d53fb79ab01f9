import { badWorkers, OF_THE_CLIENT } from "./bad-workers.ts";

// All of them by night, in both modes.
badWorkers("default", OF_THE_CLIENT);
