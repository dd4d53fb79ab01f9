import { fourTasks } from "./road.ts";

// Each form of a list and each permission mode once; the other two pairs run by night.
fourTasks("default", "typed inline");
fourTasks("auto", "from a file");
