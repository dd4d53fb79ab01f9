/** A handoff in the shipped blueprint's form. */
export const handoff = (what: string): string =>
  [
    "Concerns",
    "Deviations from the task",
    "Findings for others",
    "Risks and how to roll back",
  ].reduce((text, slot) => `${text}\n${slot}: none`, `What and why: ${what}`);
