import { areas, choices, items } from "../e2e/passes.ts";
import { MODES } from "../e2e/world.ts";

for (const mode of MODES)
  for (const isKilled of [false, true]) {
    choices(mode, isKilled);
    areas(mode, isKilled);
  }
items("default");
items("auto", true);
