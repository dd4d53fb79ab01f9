import { compacted } from "../e2e/compact.ts";

compacted("auto", "goes on");
compacted("default", "forgets to go on and is woken");
compacted("auto", "forgets to go on and is woken");
