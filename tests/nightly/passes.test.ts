import { passes } from "../e2e/passes.ts";

passes("default");
