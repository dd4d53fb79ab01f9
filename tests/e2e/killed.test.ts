import { killedThrice } from "./killed.ts";

// How a session dies is the same in both modes; the other runs by night.
killedThrice("default");
