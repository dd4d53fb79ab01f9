import { shown } from "../../program/shown.ts";

/** Text that is markup already: made here, and nowhere else. */
export type Html = Readonly<{ html: string }>;

/** What stands between two tags: markup, a text of anybody, or nothing. */
export type Child = Html | string | number | null | false | readonly Child[];

type Attributes = Readonly<Record<string, string | number | boolean | null>>;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** The one way by which a text becomes part of a page: no sign of it is markup, within an element or
 * a quoted attribute, and what would hide stands there as its number. */
export const escaped = (text: string): string =>
  // Most texts are plain, and looked at faster so
  (/[^\n\t -~]/.test(text) ? shown(text) : text).replace(
    /[&<>"']/g,
    (char) => ENTITIES[char] ?? char,
  );

/** Data that a script of the page reads: nothing in it ends the element that it stands in. */
export const json = (data: unknown): string =>
  JSON.stringify(data).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** What has no end tag, in HTML and in SVG. */
const VOID = /^(?:input|meta|br|hr|link)$/;

/** An element.
 * @param attributes by name, which is ours; `true` is one without a value, `false` and null are none
 */
export function el(name: string, attributes: Attributes, ...children: readonly Child[]): Html {
  const said = Object.entries(attributes).map(([key, value]) => {
    if (value === false || value === null) return "";
    return value === true ? ` ${key}` : ` ${key}="${escaped(`${value}`)}"`;
  });
  const start = `<${name}${said.join("")}>`;
  if (VOID.test(name)) return { html: start };
  return { html: `${start}${inside(children)}</${name}>` };
}

/** Several of anything as one piece of markup. */
export function inside(children: Child): string {
  if (children === null || children === false) return "";
  if (typeof children === "string" || typeof children === "number") return escaped(`${children}`);
  return "html" in children ? children.html : children.map(inside).join("");
}
