import { compacted } from "./compact.ts";

compacted("default", "goes on");
