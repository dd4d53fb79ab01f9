import { badWorkers } from "./bad-workers.ts";

badWorkers("default");
badWorkers("auto");
