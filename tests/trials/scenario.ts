import type { Behaviour, ScriptedTask } from "../../demo/worker-script.ts";
import type { Arm, Files, Left, Verdict } from "./left.ts";
import type { Stage } from "./stage.ts";

/** One moment at which a model is asked, and how what it leaves is judged. */
export interface Scenario {
  /** Whose conversation it is; a pattern: that of each attempt that it fits, a context each. */
  readonly plays: "orchestrator" | "worker" | "everyone" | RegExp;
  /** The repository, beside two gates; or the demo's. */
  readonly files: Files | "sample";
  /** Pages of the plugin that are others, by arm: a body under the shipped frontmatter, or all of the
   * page. Where there are none, the control has no prompts. */
  readonly pages?: Readonly<Record<Arm, Files>>;
  /** What the person's own blueprint says. */
  readonly rails?: string;
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
  /** What is looked at on disk at the end, beside where branches and tasks stand. */
  readonly look?: (stage: Stage) => Readonly<Record<string, unknown>>;
  readonly judge: (left: Left) => Verdict;
}
