import type { Reason } from "./events.ts";
import type { RunState } from "./state.ts";

/** Something that a person has to decide, and what they can do about it. */
export type Attention = Readonly<{ task: string; reason: Reason | null; note: string; choices: readonly Choice[] }>;
type Choice = Readonly<{ label: string; command: string }>;

/** A command of ours as a person can type it where they stand: in a session, our folder is on the PATH of `!` commands. */
export const typed = (words: string): string =>
  process.env.CLAUDECODE ? `! minion ${words}` : `${process.argv[1]} ${words}`;

const overRed: Choice[] = [
  { label: "mend the base, commit that, and start a new run", command: "/minion" },
  { label: "go on: what fails there as well does not count", command: typed("resume --red-base") },
];

export function attentionOf({ tasks }: RunState): Attention[] {
  const waiting = [...tasks.values()].filter(({ state }) => state === "needs-human");
  return waiting.map(({ id, reason, note, attempts }) => {
    if (reason === "base-red") return { task: id, reason, note, choices: overRed };
    const begun = attempts.findLast((each) => each.begun)?.begun;
    const branch = begun && [
      { label: "see what there is", command: `git diff ${begun.base.slice(0, 10)} ${begun.branch}` },
      { label: "mend it on its branch, then land that", command: typed(`land ${id}`) },
    ];
    const retry = { label: "let a worker try again", command: typed(`retry ${id}`) };
    return { task: id, reason, note, choices: [...(branch ?? []), retry] };
  });
}
