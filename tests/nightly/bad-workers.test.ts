import { badWorkers } from "../e2e/bad-workers.ts";
import { MODES } from "../e2e/world.ts";

for (const mode of MODES) badWorkers(mode);
