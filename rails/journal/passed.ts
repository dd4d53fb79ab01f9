import type { Evidence } from "./events.ts";

type Outcome = Pick<Evidence, "code" | "untested" | "failing">;

/** Did a command fail, whatever is known of that? Also where it ended with 0 and its runner says
 * that it tested nothing, or sums up failures: then its exit code is hidden, as by `| tee` or
 * `|| true`. */
export const isFailed = ({ code, untested, failing }: Outcome): boolean =>
  code !== 0 || untested || failing !== undefined;

/** Did a command fail? Not where all that failed fails on the base as well, and a person went on
 * over that. */
export const isRed = (run: (Outcome & Pick<Evidence, "known">) | undefined): boolean =>
  run !== undefined && isFailed(run) && !run.known;

/** How a command that did not pass came out, in words: `ended with 1`. */
export function howIn({ code, untested, failing }: Outcome): string {
  if (code === null) return "ran out of time";
  if (untested) return "tested nothing";
  if (failing !== undefined) return `ended with ${code} and printed «${failing}»`;
  return code === 0 ? "changed files" : `ended with ${code}`;
}

/** Not red, and the files are as they were: a command that changed them passed on others than it
 * leaves. */
export const isPass = (evidence: Evidence | undefined): boolean =>
  evidence !== undefined && !isRed(evidence) && evidence.changed.length === 0;

/** A gate of a phase: `red` where it has to fail, on tests that ran. */
type Aim = Readonly<{ red: boolean }>;

/** Did a gate come out as its phase wants it? One that has to fail is to show failures of tests that
 * ran: so its runner's word for them is as good as its exit code. */
export function isMet({ red }: Aim, evidence: Evidence | undefined): boolean {
  if (!red) return isPass(evidence);
  return isRed(evidence) && evidence?.code !== null && !evidence?.untested;
}

/** Did it come out otherwise? One that has to fail and changed files says nothing. */
export function isMissed(aim: Aim, evidence: Evidence | undefined): boolean {
  if (!aim.red) return isRed(evidence);
  return evidence !== undefined && evidence.changed.length === 0 && !isMet(aim, evidence);
}
