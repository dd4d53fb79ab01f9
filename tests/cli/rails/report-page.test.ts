import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Window } from "happy-dom";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Scene } from "./scene.ts";

let scene: Scene;

/** One task landed, one waits for a person. */
beforeAll(async () => {
  scene = new Scene();
  await scene.start("1. One\n   Files: src/one.txt\n2. Two\n");
  const { dispatch } = (await scene.minion(["next", "--json"])).json;
  await scene.goodWorker(dispatch[0].attempt, { "src/one.txt": "one\n", "src/x.txt": "more\n" });
  const other = await scene.agent(dispatch[1].attempt);
  await other.begin();
  other.edit({ "src/two.txt": "FAIL\n" });
  other.commit();
  await other.minion(["gate", "--all"]);
  await scene.minion(["next"]);
  await scene.minion(["stop", "2"]);
});
afterAll(() => scene.destroy());

const html = (...args: string[]) => scene.minion(["report", "--html", ...args]);

function parsed(file: string) {
  const window = new Window({ settings: { enableJavaScriptEvaluation: false } });
  window.document.write(readFileSync(file, "utf8"));
  return window.document;
}

test("the page lies beside the journal, with what git and the gates say", async () => {
  const { code, json } = await html("--json");
  expect(code).toBe(0);
  expect(json.page).toBe(join(scene.repo, ".git/minion/r1/report.html"));
  const document = parsed(json.page);
  const own = document.querySelector("#task-1");
  expect(own?.querySelector("details.file summary code")?.textContent).toBe("src/one.txt");
  const [command = ""] = [...(own?.querySelectorAll(".command code") ?? [])].map(
    (each) => each.textContent,
  );
  const [, ...args] = command.split(" ");
  expect(scene.git(...args)).toContain("+one");
  const patches = JSON.parse(document.getElementById("task-1-diff-0")?.textContent ?? "");
  expect(patches[0]).toContain("+one");
  expect(own?.querySelector("pre.box")?.textContent).toContain("linting");
  const printed = [...document.querySelectorAll("#task-2 pre.box")];
  expect(printed.map((each) => each.textContent).join("")).toContain("FAIL");
  expect(document.querySelector("#task-1 .marks")?.textContent).toContain("src/x.txt");
});

test("every command of a decision is one that attention prints", async () => {
  const { json } = await html("--json");
  const shown = [...parsed(json.page).querySelectorAll("#decisions .command code")];
  const { attention } = (await scene.minion(["attention", "--json"])).json;
  const said = attention.flatMap((each: { choices: { command: string }[] }) =>
    each.choices.map(({ command }) => command),
  );
  expect(shown.map((each) => each.textContent)).toEqual(said);
  expect(said.length).toBeGreaterThan(0);
});

describe("a file of one's own choice", () => {
  test("is written whole, and named with the command that opens it", async () => {
    const { code, stdout } = await html("it is $here.html");
    expect(code).toBe(0);
    const file = join(scene.repo, "it is $here.html");
    expect(readFileSync(file, "utf8")).toContain("</html>");
    const [, command = ""] = /^Open it: \S+ (.*)$/m.exec(stdout) ?? [];
    expect(execFileSync("sh", ["-c", `printf %s ${command}`], { encoding: "utf8" })).toBe(file);
    expect(readdirSync(scene.repo).filter((name) => name.endsWith(".new"))).toEqual([]);
  });

  test("is written again where it is a page of ours", async () => {
    await html("again.html");
    expect((await html("again.html")).code).toBe(0);
  });

  test("is left as it is where it is anything else, and nothing is written", async () => {
    writeFileSync(join(scene.repo, "notes.html"), "<h1>Mine</h1>");
    const { code, json } = await html("notes.html", "--json");
    expect([code, json.error.code]).toEqual([1, "not-ours"]);
    expect(readFileSync(join(scene.repo, "notes.html"), "utf8")).toBe("<h1>Mine</h1>");
  });

  test("wants a folder that is there, and is none itself", async () => {
    for (const [name, code] of [
      ["nowhere/page.html", "no-folder"],
      ["src", "not-a-file"],
      ["src/start.txt/page.html", "no-folder"],
    ] as const) {
      const { code: exit, json } = await html(name, "--json");
      expect([exit, json.error.code], name).toEqual([2, code]);
    }
    expect(existsSync(join(scene.repo, "nowhere"))).toBe(false);
  });
});

test("to watch wants a page, which is written anew until the run is over", async () => {
  const { code, json } = await scene.minion(["report", "--watch", "--json"]);
  expect([code, json.error.code]).toEqual([2, "usage"]);
  await scene.minion(["abort"]);
  await scene.start("1. Three\n");
  const file = join(scene.repo, "watched.html");
  const isFollowed = (): boolean =>
    JSON.parse(parsed(file).getElementById("data")?.textContent ?? "").isFollowed;
  const watched = html("watched.html", "--watch", "--json");
  while (!existsSync(file)) await sleep(50);
  expect(isFollowed()).toBe(true);
  await scene.minion(["abort"]);
  expect((await watched).code).toBe(0);
  expect(isFollowed()).toBe(false);
});
