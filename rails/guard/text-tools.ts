const ESCAPES: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  e: "\u001b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** A text with the escapes of `echo -e` and `printf` in it as what they stand for. */
export const unescaped = (text: string): string =>
  text.replace(
    /\\(?:x([\da-f]{1,2})|u([\da-f]{1,4})|0?([0-7]{1,3})|([abefnrtv\\]))/gi,
    (whole, hex, unicode, octal, letter) => {
      if (letter !== undefined) return letter === "\\" ? "\\" : (ESCAPES[letter] ?? whole);
      const code = octal === undefined ? Number.parseInt(hex ?? unicode, 16) : parseInt(octal, 8);
      return String.fromCharCode(code);
    },
  );

/** What `printf` prints; null where it does more than put words in. */
export function formatted([format = "", ...words]: readonly string[]): string | null {
  const slots = format.match(/%(?:%|-?\d*[sbqdiuc])/g) ?? [];
  const taking = slots.filter((slot) => slot !== "%%").length;
  if (format.replace(/%(?:%|-?\d*[sbqdiuc])/g, "").includes("%")) return null;
  let at = 0;
  let said = "";
  do
    said += unescaped(format).replace(/%(?:%|-?\d*([sbqdiuc]))/g, (_, kind) => {
      if (kind === undefined) return "%";
      const word = words[at++] ?? "";
      return kind === "b" ? unescaped(word) : kind === "c" ? word.slice(0, 1) : word;
    });
  while (taking > 0 && at < words.length);
  return said;
}

const isDecoding = (args: readonly string[]): boolean =>
  args.some((word) => /^(-\w*[dD]\w*|--decode)$/.test(word));

/** Programs that make another text of what they read; null where we do not know which. */
const TOOLS: Readonly<Record<string, (text: string, args: readonly string[]) => string | null>> = {
  base64: (text, args) => (isDecoding(args) ? Buffer.from(text, "base64").toString() : null),
  gbase64: (text, args) => (isDecoding(args) ? Buffer.from(text, "base64").toString() : null),
  openssl: (text, args) =>
    isDecoding(args) && args.some((word) => /base64|^-a$/.test(word))
      ? Buffer.from(text, "base64").toString()
      : null,
  xxd: (text, args) =>
    args.some((word) => /^-\w*r/.test(word))
      ? Buffer.from(text.replace(/\s/g, ""), "hex").toString()
      : null,
  rev: (text) =>
    text
      .split("\n")
      .map((line) => Array.from(line).reverse().join(""))
      .join("\n"),
  // Of these, all that they might leave.
  ...Object.fromEntries(
    ["head", "tail", "sort", "uniq", "tac", "grep", "egrep", "fgrep", "fold", "tee", "pv"].map(
      (name) => [name, (text: string) => text],
    ),
  ),
};

const OTHERS =
  /^(g?sed|[gmn]?awk|tr|cut|paste|jq|yq|od|hexdump|base32|basenc|uudecode|dd|envsubst|column|nl|strings|iconv|perl|gunzip|gzip|zcat|bunzip2|bzip2|bzcat|xz|unxz|xzcat|zstd|zstdcat|gpg|join|comm|split|xargs)$/;

/** Does a program print a text of its input, however changed? */
export const isTextTool = (program: string): boolean =>
  Object.hasOwn(TOOLS, program) || OTHERS.test(program);

/** What such a program prints of a text; null where that cannot be seen. */
export const throughTool = (
  program: string,
  args: readonly string[],
  text: string,
): string | null => (Object.hasOwn(TOOLS, program) ? (TOOLS[program]?.(text, args) ?? null) : null);
