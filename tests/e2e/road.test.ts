import { fourTasks } from "./road.ts";

// Each form of a list, each permission mode and each kind of gates once; by night all pairs of the first two, with npm's.
fourTasks("default", "typed inline", "shell");
fourTasks("auto", "from a file", "npm");
