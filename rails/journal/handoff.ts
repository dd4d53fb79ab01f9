/** What makes a text bold, and the marks that may begin a line: of headings, quotes and bullets. */
const MARKS = /^[\s#>*_-]+|\*\*|__/g;

/** What a handoff says under each slot of the blueprint's form, without the marks around it; under
 * "" what stands before.
 * @param text Markdown; a slot's name begins its line, bold, as a heading or as a bullet, and a
 *   colon follows */
export function slotsOf(text: string, slots: readonly string[]): Map<string, string> {
  const said = new Map<string, string>();
  let open = "";
  for (const line of text.split("\n")) {
    const plain = line.replace(MARKS, "");
    const slot = slots.find((one) => plain.toLowerCase().startsWith(`${one.toLowerCase()}:`));
    const rest = slot === undefined ? line : plain.slice(slot.length + 1);
    open = slot ?? open;
    said.set(open, `${said.get(open) ?? ""}\n${rest}`.trim());
  }
  return said;
}

/** The slots of the form that a handoff leaves out, or has nothing in: «none» is something. */
export function missingSlots(text: string, slots: readonly string[]): string[] {
  const said = slotsOf(text, slots);
  return slots.filter((slot) => !said.get(slot));
}

/** Does a slot say that there is nothing to say? */
export const isNone = (said: string): boolean =>
  /^[*_(]*(none|nothing|no|n\/a|-+)[*_).!]*$/i.test(said);
