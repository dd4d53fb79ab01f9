import { fourTasks } from "../e2e/road.ts";

fourTasks("default", "from a file");
fourTasks("auto", "typed inline");
