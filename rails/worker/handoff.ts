/** The slots of the blueprint's form that a handoff leaves out, or has nothing in: «none» is something.
 * @param text Markdown; a slot's name begins its line, bold, as a heading or as a bullet, and a colon follows */
export function missingSlots(text: string, slots: readonly string[]): string[] {
  const said = new Map<string, string>();
  let open = "";
  for (const line of text.split("\n")) {
    const plain = line.replace(/^[\s#>*_-]+|\*\*|__/g, "");
    const slot = slots.find((one) => plain.toLowerCase().startsWith(`${one.toLowerCase()}:`));
    open = slot ?? open;
    said.set(open, (said.get(open) ?? "") + (slot ? plain.slice(slot.length + 1) : line).trim());
  }
  return slots.filter((slot) => !said.get(slot));
}
