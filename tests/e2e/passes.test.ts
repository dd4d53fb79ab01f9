import { passes } from "./passes.ts";

// Both modes by night.
passes("auto");
