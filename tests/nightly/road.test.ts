import { fourTasks } from "../e2e/road.ts";
import { MODES } from "../e2e/world.ts";

for (const mode of MODES)
  for (const how of ["typed inline", "from a file"] as const) fourTasks(mode, how);
