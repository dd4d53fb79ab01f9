import { badWorkers } from "../e2e/bad-workers.ts";

badWorkers("auto");
