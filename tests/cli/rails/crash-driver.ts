// The program as it is, except that it can be killed at an event.
import "./crash-patch.ts";
import "../../../rails/main.ts";
