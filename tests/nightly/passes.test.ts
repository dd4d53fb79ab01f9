import { passes } from "../e2e/passes.ts";
import { MODES } from "../e2e/world.ts";

for (const mode of MODES) passes(mode);
