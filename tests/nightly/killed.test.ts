import { killedThrice } from "../e2e/killed.ts";

killedThrice("auto");
