import type { Reason } from "./events.ts";
import type { RunState } from "./state.ts";

export interface Attention {
  readonly task: string;
  readonly reason: Reason | null;
  readonly note: string;
  readonly choices: readonly { readonly label: string; readonly command: string }[];
}

/**
 * How a person calls this program where they stand: in a session its folder is on the PATH of `!` commands.
 * @param words the command and its arguments
 */
export const typed = (words: string): string =>
  process.env.CLAUDECODE ? `! minion ${words}` : `${process.argv[1]} ${words}`;

/** What waits for a person, each with what they can do about it. */
export function attentionOf(state: RunState): Attention[] {
  return [...state.tasks.values()]
    .filter((task) => task.state === "needs-human")
    .map(({ task, reason, note, attempts }) => {
      const branch = attempts.findLast(({ begun }) => begun)?.begun;
      const look = branch ? [{ label: "see what there is", command: `git diff ${branch.base} ${branch.branch}` }] : [];
      const land = branch ? [{ label: "land its branch, once mended", command: typed(`land ${task.id}`) }] : [];
      return {
        task: task.id,
        reason,
        note,
        choices: [...look, ...land, { label: "let a worker try again", command: typed(`retry ${task.id}`) }],
      };
    });
}
