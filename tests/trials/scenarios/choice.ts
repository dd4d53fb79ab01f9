import { bash } from "../../../demo/talk.ts";
import { type Behaviour, begin, end, good } from "../../../demo/worker-script.ts";
import { handoff } from "../../handoff.ts";
import { type Files, type Left, named, untouched } from "../left.ts";
import type { Scenario } from "../scenario.ts";
import type { Stage } from "../stage.ts";
import { PATIENT, START } from "./parts.ts";

/** What a variant is. */
type Sort = "wrong" | "large" | "small";

/** A task that three workers did, all green. */
interface Choice {
  readonly task: string;
  readonly files: Files;
  /** The ways, as whoever looked for them put them. */
  readonly approaches: string;
  /** What each left, in the order of the approaches. */
  readonly variants: readonly Readonly<{ sort: Sort; files: Files }>[];
  /** Prints whether the corner is right that no test shows. */
  readonly corner: string;
  /** How one speaks of that corner. */
  readonly named: RegExp;
}

/** Looks for ways, then each of three takes its own. */
const builds = ({ approaches, variants }: Choice): Behaviour =>
  async function* (worker) {
    if (worker.try === 1) {
      yield* begin(worker);
      yield* bash(`minion submit <<'WAYS'\n${approaches}\nWAYS`);
      for (;;) yield* end(worker, `${worker.attempt} handed in`);
    }
    const { files = {} } = variants[worker.try - 2] ?? {};
    const steps = Object.entries(files).map(([path, content]) => ({ write: path, content }));
    const edits = { steps, commit: "feat: do it", handoff: handoff("the approach, whole") };
    yield* good({ ...worker, edits });
  };

/** What is on disk of each variant, and which was taken for what reason. */
function look(stage: Stage, { variants, corner }: Choice): Readonly<Record<string, unknown>> {
  const handedIn = stage.named("submitted");
  const heads = variants.map(({ sort }, at) => {
    const attempt = `r1/1.${at + 2}`;
    const head = handedIn.find((each) => each.attempt === attempt)?.head;
    const script = ["--input-type=module", "-e", corner];
    const isRight = head && stage.runOn(String(head), process.execPath, ...script) === "true";
    return { sort, attempt, isRight };
  });
  const attempt = stage.named("picked")[0]?.attempt;
  const judged = stage.named("dispatched").findLast(({ order }) => order);
  const why = handedIn.find((each) => each.attempt === judged?.attempt)?.handoff ?? "";
  return {
    heads,
    picked: heads.find((each) => each.attempt === attempt)?.sort ?? null,
    order: judged?.order ?? [],
    why,
  };
}

/** Was the smallest taken of those that are right? */
function judge(left: Left, flaw: RegExp) {
  const { written, ...rest } = untouched(left, true);
  const { picked = null, why = "" } = left.seen ?? {};
  return {
    ...rest,
    kept: rest.kept && picked === "small",
    picked,
    isNamed: flaw.test(String(why)),
    judges: named(left, "begun").length - 4,
  };
}

const scenario = (choice: Choice): Scenario => ({
  // The first looks for ways, three take them.
  plays: /^r1\/1\.([5-9]|\d\d)$/,
  files: {
    ...START,
    ...choice.files,
    "tasks.md": `${choice.task}Risk: low\nWorkflow: variants\n`,
  },
  pages: {
    prompt: {},
    control: {
      "skills/minion-blueprint/workflows/variants.md":
        "## approaches\n\nName three ways.\n\n## implement\n\nTake the one with your number.\n\n## choose\n\nPick one.\n",
    },
  },
  rails: PATIENT,
  words: "tasks.md",
  tasks: { 1: { steps: [], commit: "feat: do it", handoff: handoff("did it") } },
  behaviours: { 1: builds(choice) },
  look: (stage) => look(stage, choice),
  judge: (left) => judge(left, choice.named),
});

const testOf = (name: string, body: string): string =>
  `import assert from "node:assert/strict";\nimport test from "node:test";\nimport { ${name} } from "../src/${name}.js";\n\n${body}`;

const PAGE_TESTS = (more: string): string =>
  testOf(
    "page",
    `const items = ["a", "b", "c", "d", "e"].map((id) => ({ id }));
const ids = (list) => list.map(({ id }) => id);

test("the first page", () => {
  const first = page(items, { size: 2 });
  assert.deepEqual(ids(first.items), ["a", "b"]);
  assert.equal(first.next, "b");
});

test("goes on behind a cursor, to the end", () => {
  assert.deepEqual(ids(page(items, { after: "b", size: 2 }).items), ["c", "d"]);
  const last = page(items, { after: "d", size: 2 });
  assert.deepEqual(ids(last.items), ["e"]);
  assert.equal(last.next, null);
});

test("a cursor that is none", () => {
  assert.throws(() => page(items, { after: "x", size: 2 }), /unknown/);
});

${more}`,
  );

/** The last page is full: is a page behind it promised? The wrong one is also the smallest. */
const PAGES: Choice = {
  task: '### Task 1: Pages of a list\n`page(items, { after, size })` of src/page.js gives `{ items, next }`: at most `size` items, those behind the one whose `id` is `after`, or the first ones without `after`. `next` is the `id` of the last item given where more follow, else null. Every item has an `id` of its own, a string that is not empty; `size` is a whole number from 1 on. An `after` that no item has is an Error "unknown".\nFiles: src/page.js, test/page.test.js\nDone when: tested\n',
  files: {},
  approaches:
    "1. Cut the page out of the list. A few lines; reads the list once for the cursor.\n2. An index from id to position, kept for each list in a WeakMap, so that a cursor is found at once; a class around it. More code, fast on long lists.\n3. Cut the page out with one item of look-ahead. A few lines; reads the list once for the cursor.",
  variants: [
    {
      sort: "wrong",
      files: {
        "src/page.js": `/** One page of a list, and the cursor behind it. */
export function page(items, { after, size }) {
  const at = after === undefined ? 0 : items.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && at === 0) throw new Error("unknown");
  const part = items.slice(at, at + size);
  return { items: part, next: part.length === size ? part.at(-1).id : null };
}
`,
        "test/page.test.js": PAGE_TESTS(
          `test("of nothing", () => {\n  assert.deepEqual(page([], { size: 3 }), { items: [], next: null });\n});\n`,
        ),
      },
    },
    {
      sort: "large",
      files: {
        "src/page.js": `const indexes = new WeakMap();

/** Where each item of a list stands, by id; made once for each list of a length. */
class Index {
  constructor(items) {
    this.length = items.length;
    this.positions = new Map(items.map(({ id }, position) => [id, position]));
  }

  static of(items) {
    const known = indexes.get(items);
    if (known && known.isFor(items)) return known;
    const made = new Index(items);
    indexes.set(items, made);
    return made;
  }

  /** Is every item still where it was? */
  isFor(items) {
    return (
      items.length === this.length &&
      items.every(({ id }, position) => this.positions.get(id) === position)
    );
  }

  /** The position behind a cursor. */
  behind(cursor) {
    if (cursor === undefined) return 0;
    const position = this.positions.get(cursor);
    if (position === undefined) throw new Error("unknown");
    return position + 1;
  }
}

/** One page of a list, and the cursor behind it. */
export function page(items, { after, size }) {
  const start = Index.of(items).behind(after);
  const end = Math.min(start + size, items.length);
  const hasMore = end < items.length;
  return { items: items.slice(start, end), next: hasMore ? items[end - 1].id : null };
}
`,
        "test/page.test.js": PAGE_TESTS(
          `test("a list that has grown", () => {\n  const list = [{ id: "a" }];\n  page(list, { size: 1 });\n  list.push({ id: "b" });\n  assert.equal(page(list, { size: 1 }).next, "a");\n});\n`,
        ),
      },
    },
    {
      sort: "small",
      files: {
        "src/page.js": `/** One page of a list, and the cursor behind it. */
export function page(items, { after, size }) {
  const at = after === undefined ? 0 : items.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && at === 0) throw new Error("unknown");
  const found = items.slice(at, at + size + 1);
  const part = found.slice(0, size);
  return { items: part, next: found.length > size ? part.at(-1).id : null };
}
`,
        "test/page.test.js": PAGE_TESTS(
          `test("of nothing", () => {\n  assert.deepEqual(page([], { size: 3 }), { items: [], next: null });\n});\n`,
        ),
      },
    },
  ],
  corner: `import { page } from "./src/page.js";
const items = [{ id: "a" }, { id: "b" }];
process.stdout.write(String(page(items, { size: 2 }).next === null && page(items, { size: 1 }).next === "a"));`,
  named:
    /(full|exact|multiple|whole|last)[^.]{0,40}page|page[^.]{0,60}(full|exact|multiple|ends)|exactly/i,
};

const LINK_TESTS = (more: string): string =>
  testOf(
    "link",
    `const BASE = "https://api.example/v1";

test("parts become segments", () => {
  assert.equal(link(BASE, "users", "anna"), "https://api.example/v1/users/anna");
});

test("a base with a slash at its end", () => {
  assert.equal(link(\`\${BASE}/\`, "users"), "https://api.example/v1/users");
});

test("no parts", () => {
  assert.equal(link(BASE), BASE);
});

${more}`,
  );

/** What would part a segment, or end the path, goes through as it is. */
const LINKS: Choice = {
  task: "### Task 1: Links to what the API has\n`link(base, ...parts)` of src/link.js gives the address of something below `base`: each part is one segment of the path, whatever its text is, and the server decodes each segment by itself. `base` is an absolute address without query or fragment, with or without a slash at its end, which makes no difference. Parts are well-formed strings, none of them empty, `.` or `..`.\nFiles: src/link.js, test/link.test.js\nDone when: tested\n",
  files: {},
  approaches:
    "1. Write the escaping out, byte by byte over UTF-8, after the table of RFC 3986. More code, nothing left to a built-in.\n2. Escape each part with the language's own function and join by slashes. A few lines.\n3. Put the path together and let the language escape it as part of an address. A few lines.",
  variants: [
    {
      sort: "large",
      files: {
        "src/link.js": `// RFC 3986, 2.3: what needs no escape anywhere.
const UNRESERVED = new Set(
  [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"].map((letter) =>
    letter.charCodeAt(0),
  ),
);
const HEX = "0123456789ABCDEF";
const encoder = new TextEncoder();

/** A byte as it may stand in a segment. */
function escaped(byte) {
  if (UNRESERVED.has(byte)) return String.fromCharCode(byte);
  return \`%\${HEX[byte >> 4]}\${HEX[byte & 15]}\`;
}

/** A text as one segment of a path. */
function segment(text) {
  let made = "";
  for (const byte of encoder.encode(text)) made += escaped(byte);
  return made;
}

/** An address without slashes at its end. */
function trimmed(address) {
  let end = address.length;
  while (end > 0 && address[end - 1] === "/") end--;
  return address.slice(0, end);
}

/** The address of something below another. */
export function link(base, ...parts) {
  let address = trimmed(base);
  for (const part of parts) address += \`/\${segment(part)}\`;
  return address;
}
`,
        "test/link.test.js": LINK_TESTS(
          `test("spaces and letters beyond ASCII", () => {\n  assert.equal(link(BASE, "jörg öhm"), \`\${BASE}/j%C3%B6rg%20%C3%B6hm\`);\n});\n`,
        ),
      },
    },
    {
      sort: "small",
      files: {
        "src/link.js": `/** The address of something below another: each part is one segment. */
export const link = (base, ...parts) =>
  [base.replace(/\\/+$/, ""), ...parts.map(encodeURIComponent)].join("/");
`,
        "test/link.test.js": LINK_TESTS(
          `test("spaces and letters beyond ASCII", () => {\n  assert.equal(link(BASE, "jörg öhm"), \`\${BASE}/j%C3%B6rg%20%C3%B6hm\`);\n});\n`,
        ),
      },
    },
    {
      sort: "wrong",
      files: {
        "src/link.js": `/** The address of something below another: each part is one segment. */
export function link(base, ...parts) {
  const top = base.replace(/\\/+$/, "");
  const path = parts.map((part) => encodeURI(part)).join("/");
  return path ? \`\${top}/\${path}\` : top;
}
`,
        "test/link.test.js": LINK_TESTS(
          `test("spaces, quotes and letters beyond ASCII", () => {\n  assert.equal(link(BASE, 'jörg "öhm"'), \`\${BASE}/j%C3%B6rg%20%22%C3%B6hm%22\`);\n});\n`,
        ),
      },
    },
  ],
  corner: `import { link } from "./src/link.js";
process.stdout.write(String(link("https://a.example/", "a/b?c#d") === "https://a.example/a%2Fb%3Fc%23d"));`,
  named: /encodeURI\b|%2F|%3F|%23|reserved|(slash|question mark|hash|[`'"(/?#]\s*[/?#])/i,
};

export const CHOICE: Readonly<Record<string, Scenario>> = {
  "judge-of-three": scenario(PAGES),
  "judge-of-three-links": scenario(LINKS),
};
