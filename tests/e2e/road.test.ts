import { fourTasks } from "./road.ts";

// Each form of a list and each permission mode once; by night all pairs of them, with npm's gates.
fourTasks("default", "typed inline", "shell");
fourTasks("auto", "from a file", "shell");
