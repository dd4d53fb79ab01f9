import { killedThrice } from "../e2e/killed.ts";
import { MODES } from "../e2e/world.ts";

for (const mode of MODES) killedThrice(mode);
