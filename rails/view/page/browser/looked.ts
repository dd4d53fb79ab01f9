/** What was looked at of a run, as this browser keeps it. */
export type Looked = Readonly<{
  isKept: boolean; // Also once the page is closed
  has(anchor: string, mark: string): boolean;
  set(anchor: string, mark: string | null): void;
}>;

/** Reads it, and keeps it; a browser that refuses to keep anything has it until the page is closed.
 * @param key names the run */
export function looked(key: string): Looked {
  const name = `minion looked at ${key}`;
  let marks: Record<string, string> = {};
  let isKept = true;
  const read = (): void => {
    try {
      const found: unknown = JSON.parse(localStorage.getItem(name) ?? "{}");
      if (typeof found === "object" && found !== null) marks = found as Record<string, string>;
    } catch {
      isKept = false;
    }
  };
  read();
  return {
    get isKept() {
      return isKept;
    },
    has: (anchor, mark) => Object.hasOwn(marks, anchor) && marks[anchor] === mark,
    set(anchor, mark) {
      read(); // Another tab may show the same run
      if (mark === null) delete marks[anchor];
      else marks[anchor] = mark;
      try {
        localStorage.setItem(name, JSON.stringify(marks));
      } catch {
        isKept = false;
      }
    },
  };
}
