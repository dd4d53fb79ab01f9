import { fourTasks } from "./road.ts";

// The mode of the terminal and what people type there. In default mode and from a file a whole run
// is that of judged.test.ts; by night each form is run in each mode, with npm's gates.
fourTasks("auto", "typed inline", "shell");
