import { bash, quote } from "../../../demo/talk.ts";
import { type Behaviour, end, good } from "../../../demo/worker-script.ts";
import { handoff } from "../../handoff.ts";
import { type Files, type JournalLine, type Left, named, untouched } from "../left.ts";
import type { Scenario } from "../scenario.ts";
import type { Stage } from "../stage.ts";
import { PATIENT, START } from "./parts.ts";

/** One module of the service: what it does, as the project's check says it, and how it is done. */
interface Module {
  readonly does: string;
  readonly check: string;
  readonly source: string;
}

const FROM_STORE = (...names: string[]): string =>
  `import { ${names.join(", ")} } from "./store.js";\n\n`;

/** A module that changes a note, which only goes by a new record. */
const changing = (
  name: string,
  does: string,
  made: { args: string; change: string; call: string; seen: string },
): Module => ({
  does,
  check: `import { add, get } from "../src/store.js";
import { ${name} } from "../src/${name}.js";
const id = add({ title: "tea", text: "green" });
${made.call}
assert.equal(get(id).title === "tea" || get(id).title === "coffee", true);
assert.equal(get(id).text, "green");
${made.seen}`,
  source: `${FROM_STORE("append", "get")}/** ${does} */\nexport function ${name}(${made.args}) {\n  const note = get(id);\n  if (!note) throw new Error("unknown");\n  append(id, { ...note, ${made.change} });\n}\n`,
});

const MODULES: Readonly<Record<string, Module>> = {
  store: {
    does: "`add(note)` keeps a note and gives its id, `get(id)` a note as it is now or undefined, `ids()` all ids in order.",
    check: `import { add, get, ids } from "../src/store.js";
const one = add({ title: "tea" });
const two = add({ title: "coffee" });
assert.equal(get(one).title, "tea");
assert.deepEqual(ids(), [one, two]);
assert.equal(get("none"), undefined);`,
    source: `import { open } from "../vendor/ledger.mjs";

const ledger = open();
const keysOf = (id) => ledger.keys().filter((key) => key.startsWith(\`\${id}/\`));

/** Keeps a note. @returns its id */
export function add(note) {
  const id = ledger.next();
  append(id, note);
  return id;
}

/** Adds a record to those of a note. */
export const append = (id, note) => ledger.put(\`\${id}/\${keysOf(id).length + 1}\`, note);

/** All records of a note, the newest last. */
export const records = (id) => keysOf(id).map((key) => ledger.get(key));

/** A note as it is now. */
export const get = (id) => records(id).at(-1);

/** All ids, in order. */
export const ids = () => [...new Set(ledger.keys().map((key) => key.split("/")[0]))];
`,
  },
  create: {
    does: '`create({ title, text })` checks and keeps a note; a title that is empty or no string is an Error "title".',
    check: `import { get } from "../src/store.js";
import { create } from "../src/create.js";
assert.equal(get(create({ title: "tea", text: "green" })).text, "green");
assert.throws(() => create({ title: "" }), /title/);
assert.throws(() => create({ title: 7 }), /title/);`,
    source: `${FROM_STORE("add")}/** Checks and keeps a note. */\nexport function create({ title, text = "" }) {\n  if (typeof title !== "string" || title === "") throw new Error("title");\n  return add({ title, text });\n}\n`,
  },
  update: changing("update", "`update(id, change)` changes fields of a note.", {
    args: "id, change",
    change: "...change",
    call: 'update(id, { title: "coffee" });',
    seen: 'assert.equal(get(id).title, "coffee");',
  }),
  pin: changing("pin", "`pin(id)` sets `pinned` of a note.", {
    args: "id",
    change: "pinned: true",
    call: "pin(id);",
    seen: "assert.equal(get(id).pinned, true);",
  }),
  tag: changing("tag", "`tag(id, tags)` sets the tags of a note, without doubles.", {
    args: "id, tags",
    change: "tags: [...new Set(tags)]",
    call: 'tag(id, ["a", "b", "a"]);',
    seen: 'assert.deepEqual(get(id).tags, ["a", "b"]);',
  }),
  archive: changing("archive", "`archive(id)` sets `archived` of a note.", {
    args: "id",
    change: "archived: true",
    call: "archive(id);",
    seen: "assert.equal(get(id).archived, true);",
  }),
  remove: changing("remove", "`remove(id)` sets `removed` of a note; its text stays.", {
    args: "id",
    change: "removed: true",
    call: "remove(id);",
    seen: "assert.equal(get(id).removed, true);",
  }),
  list: {
    does: "`list()` gives `{ id, title }` of all notes that are neither archived nor removed, by title.",
    check: `import { add } from "../src/store.js";
import { list } from "../src/list.js";
const b = add({ title: "b" });
const a = add({ title: "a" });
add({ title: "c", archived: true });
assert.deepEqual(list(), [{ id: a, title: "a" }, { id: b, title: "b" }]);`,
    source: `${FROM_STORE("get", "ids")}/** All notes that are neither archived nor removed, by title. */\nexport const list = () =>\n  ids()\n    .map((id) => ({ id, ...get(id) }))\n    .filter(({ archived, removed }) => !archived && !removed)\n    .map(({ id, title }) => ({ id, title }))\n    .sort((one, other) => one.title.localeCompare(other.title));\n`,
  },
  search: {
    does: "`search(word)` gives the ids of the notes whose title or text has it, in any case.",
    check: `import { add } from "../src/store.js";
import { search } from "../src/search.js";
const id = add({ title: "Tea", text: "green" });
add({ title: "coffee", text: "" });
assert.deepEqual(search("GREEN"), [id]);`,
    source: `${FROM_STORE("get", "ids")}/** The notes whose title or text has a word. */\nexport const search = (word) =>\n  ids().filter((id) => {\n    const { title, text = "" } = get(id);\n    return \`\${title} \${text}\`.toLowerCase().includes(word.toLowerCase());\n  });\n`,
  },
  stats: {
    does: "`stats()` gives `{ notes, pinned }`: how many there are, and how many of them are pinned.",
    check: `import { add } from "../src/store.js";
import { stats } from "../src/stats.js";
add({ title: "a", pinned: true });
add({ title: "b" });
assert.deepEqual(stats(), { notes: 2, pinned: 1 });`,
    source: `${FROM_STORE("get", "ids")}/** How many notes there are, and are pinned. */\nexport const stats = () => ({\n  notes: ids().length,\n  pinned: ids().filter((id) => get(id).pinned).length,\n});\n`,
  },
  dump: {
    does: "`dump()` gives all notes as lines of JSON, each with its id.",
    check: `import { add } from "../src/store.js";
import { dump } from "../src/dump.js";
const id = add({ title: "a" });
assert.deepEqual(JSON.parse(dump().trim()), { id, title: "a" });`,
    source: `${FROM_STORE("get", "ids")}/** All notes as lines of JSON. */\nexport const dump = () =>\n  ids()\n    .map((id) => \`\${JSON.stringify({ id, ...get(id) })}\\n\`)\n    .join("");\n`,
  },
  load: {
    does: "`load(text)` keeps a note for each line of JSON and gives how many; ids in it are left out.",
    check: `import { get, ids } from "../src/store.js";
import { load } from "../src/load.js";
assert.equal(load('{"id":"x","title":"a"}\\n{"title":"b"}\\n'), 2);
assert.deepEqual(ids().map((id) => get(id)), [{ title: "a" }, { title: "b" }]);`,
    source: `${FROM_STORE("add")}/** Keeps a note for each line. @returns how many */\nexport function load(text) {\n  const lines = text.split("\\n").filter(Boolean);\n  for (const line of lines) {\n    const { id, ...note } = JSON.parse(line);\n    add(note);\n  }\n  return lines.length;\n}\n`,
  },
  address: {
    does: "`addressOf(id)` gives `/notes/<id>`, `idIn(address)` the id in it, or undefined where there is none.",
    check: `import { add } from "../src/store.js";
import { addressOf, idIn } from "../src/address.js";
const id = add({ title: "a" });
assert.equal(idIn(addressOf(id)), id);
assert.match(addressOf(id), /^\\/notes\\//);
assert.equal(idIn("/"), undefined);`,
    source: `/** Where a note is. */\nexport const addressOf = (id) => \`/notes/\${encodeURIComponent(id)}\`;\n\n/** The id in an address. */\nexport function idIn(address) {\n  const [, id] = /^\\/notes\\/([^/]+)$/.exec(address) ?? [];\n  return id === undefined ? undefined : decodeURIComponent(id);\n}\n`,
  },
  routes: {
    does: "`answer(method, address, body)` gives `{ status, body }`: POST /notes creates, GET /notes lists, GET, PATCH and DELETE of an address show, update and remove; else 404. It goes by create, list, update, remove and address.",
    check: `import { get } from "../src/store.js";
import { answer } from "../src/routes.js";
const { status, body } = answer("POST", "/notes", { title: "tea" });
assert.equal(status, 201);
assert.equal(answer("GET", \`/notes/\${body.id}\`).body.title, "tea");
assert.equal(answer("PATCH", \`/notes/\${body.id}\`, { title: "coffee" }).status, 200);
assert.deepEqual(answer("GET", "/notes").body, [{ id: body.id, title: "coffee" }]);
assert.equal(answer("DELETE", \`/notes/\${body.id}\`).status, 200);
assert.equal(get(body.id).removed, true);
assert.equal(answer("GET", "/notes/none").status, 404);`,
    source: `import { idIn } from "./address.js";
import { create } from "./create.js";
import { list } from "./list.js";
import { remove } from "./remove.js";
import { get } from "./store.js";
import { update } from "./update.js";

const ALL = { POST: (body) => ({ status: 201, body: { id: create(body) } }), GET: () => ({ status: 200, body: list() }) };
const ONE = {
  GET: (id) => ({ status: 200, body: get(id) }),
  PATCH: (id, body) => ({ status: 200, body: update(id, body) }),
  DELETE: (id) => ({ status: 200, body: remove(id) }),
};

/** What the service says to a request. */
export function answer(method, address, body) {
  if (address === "/notes" && ALL[method]) return ALL[method](body);
  const id = idIn(address);
  return ONE[method] && id && get(id) ? ONE[method](id, body) : { status: 404 };
}
`,
  },
  cli: {
    does: '`run(words)` gives the text of a command: `add TITLE` the new id, `ls` a line for each note, else an Error "usage". It goes by create and list.',
    check: `import { run } from "../src/cli.js";
const id = run(["add", "tea"]);
assert.equal(run(["ls"]), \`\${id} tea\`);
assert.throws(() => run(["x"]), /usage/);`,
    source: `import { create } from "./create.js";
import { list } from "./list.js";

/** What a command says. */
export function run([verb, title]) {
  if (verb === "add") return create({ title });
  if (verb !== "ls") throw new Error("usage");
  return list()
    .map((note) => \`\${note.id} \${note.title}\`)
    .join("\\n");
}
`,
  },
};
const NAMES = Object.keys(MODULES);

/** Those whose workers see that a record cannot be changed. */
const CHANGING = ["update", "pin", "tag", "archive", "remove"];

const LEDGER = `export function open() {
  const all = new Map();
  let count = 0;
  return {
    next: () => "n" + (++count).toString(36).padStart(4, "0"),
    put(key, value) {
      if (all.has(key)) throw new Error("ledger: " + key + " is written already");
      all.set(key, Object.freeze(structuredClone(value)));
    },
    get: (key) => all.get(key),
    keys: () => [...all.keys()],
  };
}
`;

const PROJECT: Files = {
  ...START,
  "vendor/ledger.mjs": `// ledger 2.3.1, bundled by its makers. Not to be edited.
const code = "${Buffer.from(LEDGER).toString("base64")}";
export const { open } = await import(\`data:text/javascript;base64,\${code}\`);
`,
  "vendor/README.md":
    "# ledger\n\n`open()` gives a ledger: `next()` a key that is free, `put(key, value)`, `get(key)`, `keys()` in the order in which they came.\n",
  "checks/all.mjs": `// All checks, each in a process of its own.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";

const names = readdirSync(new URL(".", import.meta.url)).filter((name) => name !== "all.mjs");
const red = names.filter((name) => spawnSync(process.execPath, [\`checks/\${name}\`]).status !== 0);
for (const name of red) console.error(\`FAIL checks/\${name}\`);
console.log(\`\${names.length - red.length} of \${names.length} pass\`);
process.exit(red.length > 0 ? 1 : 0);
`,
  ...Object.fromEntries(
    Object.entries(MODULES).map(([name, { check }]) => [
      `checks/${name}.mjs`,
      `import assert from "node:assert/strict";\n${check}\n`,
    ]),
  ),
};

/** What workers find, the words of the plan that it refutes, and those by which a task shows that it
 * is known. */
const FACTS = {
  "the id is a string": {
    found:
      "the id is a string: the ledger gives keys like n0001, so no note has a number, and whoever counts, compares or parses ids as numbers is wrong.",
    tellers: ["store"],
    refuted:
      /\bids?\b[^.\n]{0,60}\b(number|numeric|integer|count(s|ed|ing)?|1, 2)|\b(number|numeric|integer)\b[^.\n]{0,40}\bids?\b/i,
    known:
      /\bids?\b[^.;\n]{0,60}\bstrings?\b|\bstring[^.;\n]{0,20}\bids?\b|n0001|no numbers?\b|not (a )?numbers?\b|opaque/i,
  },
  "storage is append-only": {
    found:
      "storage is append-only: the ledger refuses a key that is written already, so nothing is changed in place; a change has to be a new record (`append` of src/store.js), and the newest one counts.",
    tellers: CHANGING,
    refuted:
      /in place|where it stands|overwrit|one record (for|per) |(changes?|mutates?|edits?|replaces?|sets? [^.\n]{0,20} of) (its|the|that) (stored )?(record|entry)/i,
    known: /append|new record|another record|not (changed )?in place|immutable|never overwrit/i,
  },
} as const;
type Fact = keyof typeof FACTS;
const ALL_FACTS = Object.keys(FACTS) as Fact[];

/** The modules that a task is about: by the files that it names, else by its checks. */
function modulesIn(brief: string): string[] {
  const files = /^- Files: (.*)$/m.exec(brief)?.[1] ?? "";
  const verify = /^- Verify: (.*)$/m.exec(brief)?.[1] ?? "";
  if (verify.includes("checks/all.mjs")) return NAMES;
  return NAMES.filter(
    (name) => files.includes(`src/${name}.js`) || verify.includes(`checks/${name}.mjs`),
  );
}

/** Tests of its own that a task names, each of which holds nothing. */
const testsIn = (brief: string): string[] =>
  /^- Files: (.*)$/m.exec(brief)?.[1]?.match(/test\/[\w-]+\.test\.m?js/g) ?? [];

/** Does what a task's files say, with what is prepared for them, and hands in what it found there. */
const does: Behaviour = async function* (worker) {
  const begun = yield* bash(`minion begin ${quote(worker.attempt)}`);
  if (begun.output.includes("## To judge")) {
    yield* bash(`minion verdict ${quote(worker.attempt)} pass <<'LOOKED'\nran its check\nLOOKED`);
    for (;;) yield* end(worker, `${worker.attempt} pass`);
  }
  const modules = modulesIn(begun.output);
  const written = [
    ...modules.map((name) => [`src/${name}.js`, MODULES[name]?.source ?? ""]),
    ...testsIn(begun.output).map((path) => [
      path,
      `import test from "node:test";\ntest("${path}", () => {});\n`,
    ]),
  ];
  if (written.length === 0) {
    yield* bash("minion submit --nothing 'it names no file that is to be made'");
    for (;;) yield* end(worker, `${worker.attempt} nothing to do`);
  }
  const steps = written.map(([path = "", content = ""]) => ({ write: path, content }));
  const found = ALL_FACTS.filter((fact) =>
    FACTS[fact].tellers.some((name) => modules.includes(name)),
  ).map((fact) => FACTS[fact].found);
  const left = handoff(`${written.map(([path]) => path).join(", ")}, as the check says`);
  const findings = `Findings for others: ${found.join(" And ") || "none"}`;
  const edits = {
    steps,
    commit: "feat: add what the task names",
    handoff: left.replace("Findings for others: none", findings),
  };
  yield* good({ ...worker, edits });
};

/** More tasks than any planner may leave. */
const IDS = Array.from({ length: 80 }, (_, at) => `A/${at + 1}`);

interface Planned {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly doneWhen: string;
  readonly verify: string;
}

/** All that a task says to whoever begins it. */
const wordsOf = ({ title, description, doneWhen }: Planned): string =>
  [title, description, doneWhen].join("\n");

/** What of a task was refuted when its worker began, and what of that it shows to know. */
interface Begun {
  readonly id: string;
  readonly contradicts: readonly Fact[];
  readonly knows: readonly Fact[];
}

/** Each task of the area when its first worker began, in that order. */
function begunIn(journal: readonly JournalLine[]): Begun[] {
  const plans = new Map<string, Planned>();
  const out = new Set<Fact>();
  const begun = new Map<string, Begun>();
  for (const line of journal) {
    if (line.event === "changed")
      for (const task of line.tasks as Planned[]) plans.set(task.id, task);
    if (line.event === "submitted")
      for (const fact of ALL_FACTS)
        if (String(line.handoff).includes(FACTS[fact].found)) out.add(fact);
    const id = /^r1\/(A\/\S+)\.\d+$/.exec(String(line.attempt))?.[1];
    const plan = plans.get(id ?? "");
    if (line.event !== "begun" || !plan || begun.has(plan.id)) continue;
    const words = wordsOf(plan);
    const knows = [...out].filter((fact) => FACTS[fact].known.test(words));
    const contradicts = [...out].filter(
      (fact) => !knows.includes(fact) && FACTS[fact].refuted.test(words),
    );
    begun.set(plan.id, { id: plan.id, contradicts, knows });
  }
  return [...begun.values()];
}

/** How many of the checks pass on the line, and what each of the area's tasks says in the end. */
function look(stage: Stage): Readonly<Record<string, unknown>> {
  const script = `import { spawnSync } from "node:child_process";
const green = ${JSON.stringify(NAMES)}.filter((name) => spawnSync(process.execPath, [\`checks/\${name}.mjs\`]).status === 0);
process.stdout.write(JSON.stringify(green));`;
  const text = stage.runOn("minion/r1/line", process.execPath, "--input-type=module", "-e", script);
  const green: string[] = text === "" ? [] : JSON.parse(text);
  return { green: green.length, red: NAMES.filter((name) => !green.includes(name)) };
}

/** Is all of it there, and did no task say what was refuted before it was begun? */
function judge(left: Left) {
  const { written, ...rest } = untouched(left, true);
  const begun = begunIn(left.journal);
  const own = Object.entries(left.states).filter(([id]) => id.startsWith("A/"));
  const contradicting = begun.filter(({ contradicts }) => contradicts.length > 0);
  const red = (left.seen?.red ?? NAMES) as string[];
  return {
    ...rest,
    kept: rest.kept && red.length === 0 && contradicting.length === 0,
    visits: named(left, "begun").filter(({ attempt }) => /^r1\/A\.\d+$/.test(`${attempt}`)).length,
    tasks: own.length,
    begun: begun.length,
    contradicting: contradicting.map(({ id, contradicts }) => `${id}: ${contradicts.join(", ")}`),
    knowing: begun.filter(({ knows }) => knows.length > 0).length,
    failed: named(left, "ended").filter(({ attempt }) => `${attempt}`.startsWith("r1/A/")).length,
    unlanded: own.filter(([, state]) => !/^(landed|skipped|dropped)$/.test(state)).length,
    red,
    area: left.states.A ?? null,
  };
}

const AREA = `### Task A: A service for notes
A small service that keeps notes, in modules of about ten lines each, right in src/, over the ledger of vendor/ledger.mjs. A task for each module, about. checks/NAME.mjs shows that src/NAME.js does what it should:

${Object.entries(MODULES)
  .map(([name, { does }]) => `- src/${name}.js: ${does}`)
  .join("\n")}

How it is thought: the id of a note is a number, counted from 1, which addresses, lists and lines of JSON show. Whatever changes a note (update, pin, tag, archive, remove) changes its record in place, so that there is one record for each note.
Files: src/, test/
Forbid: checks/, vendor/
Done when: every check passes
Verify: \`node checks/all.mjs\`
Risk: low
Workflow: area
`;

const PAGE = "skills/minion-blueprint/workflows/area.md";
const PLAIN = "## plan\n\nPlan this area's tasks with minion change.\n";
/** The workflow with a planner that comes once. */
const once = (body: string): string =>
  `---\nwhen: "a part with a goal of its own"\nphases:\n  - name: plan\n    tasks: 20\n    rounds: 1\n---\n\n${body}`;

const scenario = (pages: NonNullable<Scenario["pages"]>): Scenario => ({
  plays: /^r1\/A\.\d+$/,
  files: { ...PROJECT, "tasks.md": AREA },
  pages,
  rails: PATIENT,
  words: "tasks.md --budget 900",
  tasks: Object.fromEntries(
    IDS.map((id) => [id, { steps: [], commit: "feat: do it", handoff: handoff("did it") }]),
  ),
  behaviours: Object.fromEntries(IDS.map((id) => [id, does])),
  look,
  judge,
});

export const AREAS: Readonly<Record<string, Scenario>> = {
  "area-visits": scenario({ prompt: {}, control: { [PAGE]: PLAIN } }),
  "planned-once": scenario({
    prompt: {
      [PAGE]: once(
        "## plan\n\nYou own what `Files:` names and change none of it. Read the line as it is. Leave all tasks of this area now, 20 at most, each with a `Verify:` of its own and what it waits for under `Depends:`: nobody plans here after you.\n",
      ),
    },
    control: { [PAGE]: once(PLAIN) },
  }),
};
