import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { clientEnv } from "../../demo/client.ts";
import { CLAUDE, World } from "./world.ts";

let world: World | undefined;
afterEach(() => world?.close());

test("the prompts weigh what they may, by the client's own count", () => {
  world = World.small({});
  const assets = join(import.meta.dirname, "../../assets");
  const told = execFileSync(CLAUDE, ["--plugin-dir", assets, "plugin", "details", "minion"], {
    cwd: world.temp,
    env: clientEnv({ home: world.home, model: "http://127.0.0.1:9" }),
    encoding: "utf8",
  });
  const tokens = (line: RegExp) => Number(line.exec(told)?.[1]?.replaceAll(",", "") ?? Number.NaN);
  expect(tokens(/Always-on:\s+~([\d,]+) tok/)).toBeLessThanOrEqual(120);
  const onInvoke = (name: string) => tokens(new RegExp(`^  ${name} .*~([\\d,.]+k?)$`, "m"));
  expect(onInvoke("minion")).toBeLessThanOrEqual(2000);
  expect(onInvoke("minion-worker") + onInvoke("minion-blueprint")).toBeLessThanOrEqual(2000);
});
