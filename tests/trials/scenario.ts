import type { Behaviour, ScriptedTask } from "../../demo/worker-script.ts";
import type { Files, Left, Verdict } from "./left.ts";
import type { Stage } from "./stage.ts";

/** One moment at which a model is asked, and how what it leaves is judged. */
export interface Scenario {
  readonly plays: "orchestrator" | "worker" | "everyone";
  /** The repository, beside two gates; or the demo's. */
  readonly files: Files | "sample";
  /** What has happened before. */
  readonly prepare?: (stage: Stage) => void;
  /** What the person types after `/minion`. */
  readonly words: string;
  /** What the person says once it has come so far; then they are there, and agree to these calls of
   * those that they are asked about. */
  readonly later?: Readonly<{
    when: (stage: Stage) => boolean;
    words: string;
    agrees: (command: string) => boolean;
  }>;
  /** How workers that are scripts do their tasks, by id; and which do them otherwise than well. */
  readonly tasks?: Readonly<Record<string, ScriptedTask>>;
  readonly behaviours?: Readonly<Record<string, Behaviour>>;
  /** Nothing that comes after this is of interest. */
  readonly until?: (stage: Stage) => boolean;
  readonly judge: (left: Left) => Verdict;
}
