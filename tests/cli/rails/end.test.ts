import { afterEach, expect, test } from "vitest";
import { Scene } from "./scene.ts";

let scene: Scene | undefined;
afterEach(() => scene?.destroy());

const BLUEPRINT = `---
gates:
  - name: test
    run: "! grep -rn FAIL src"
  - name: slow
    run: "! grep -rn SLOW src"
    when: end
---
`;
const next = async () => (await (scene as Scene).minion(["next", "--json", "--wait", "60"])).json;
const report = async () => (await (scene as Scene).minion(["report", "--json"])).json.report;
const runsOf = async (gate: string) => {
  const { events } = (await (scene as Scene).minion(["events", "--json"])).json;
  const own = events.filter(
    (each: { event: string; gate: string }) => each.event === "evidence" && each.gate === gate,
  );
  return own.map(({ by, attempts }: { by: string; attempts: string[] }) =>
    `${by} ${attempts.join(" ")}`.trim(),
  );
};

test("a gate for the end runs once on all that landed; red there, one more worker mends the line", async () => {
  scene = new Scene(BLUEPRINT);
  await scene.start("1. One\n2. Two\n");
  const { dispatch } = await next();
  for (const { attempt, task } of dispatch)
    await scene.goodWorker(attempt, { [`src/${task}.txt`]: task === "1" ? "SLOW\n" : "fine\n" });
  const after = await next();
  expect(after).toMatchObject({ done: false, dispatch: [{ attempt: "r1/end.1", task: "end" }] });
  // On the base, by no worker, and once on what both left.
  expect(await runsOf("slow")).toEqual(["landing", "landing r1/1.1 r1/2.1"]);

  const mender = await scene.agent("r1/end.1");
  const brief = (await mender.begin()).stdout;
  expect(brief).toContain("slow ended with 1 on the line");
  expect(brief).toContain("slow (`! grep -rn SLOW src`)");
  mender.edit({ "src/1.txt": "fast\n" });
  await mender.finish();
  expect(await next()).toMatchObject({ done: true, dispatch: [], attention: [] });
  expect(scene.git("show", "minion/r1/line:src/1.txt")).toBe("fast");
  expect(await report()).toContain("Also at the end: slow.");
});

test("what stays red at the end is said, and nobody else is set to it", async () => {
  scene = new Scene(BLUEPRINT);
  await scene.start("1. One\n");
  const { dispatch } = await next();
  await scene.goodWorker(dispatch[0].attempt, { "src/1.txt": "SLOW\n" });
  expect((await next()).dispatch).toMatchObject([{ attempt: "r1/end.1" }]);
  const mender = await scene.agent("r1/end.1");
  await mender.begin();
  await mender.minion(["submit", "--nothing", "it is meant to be slow"]);
  expect(await next()).toMatchObject({ done: true, dispatch: [] });
  expect(await report()).toContain("**Red at the end: slow ended with 1");
});

test("where it is green no worker is added", async () => {
  scene = new Scene(BLUEPRINT);
  await scene.start("1. One\n");
  const { dispatch } = await next();
  await scene.goodWorker(dispatch[0].attempt, { "src/1.txt": "fine\n" });
  expect(await next()).toMatchObject({ done: true, landed: ["1"] });
  expect(await runsOf("slow")).toEqual(["landing", "landing r1/1.1"]);
});
