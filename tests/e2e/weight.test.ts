import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { clientEnv } from "../../demo/client.ts";
import { CLAUDE, World } from "./world.ts";

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

const ASSETS = join(import.meta.dirname, "../../assets");

/** What the client itself says; nothing is asked of a model. */
function claude(...args: string[]): string {
  world ??= World.small({});
  const env = clientEnv({ home: world.home, model: "http://127.0.0.1:9" });
  return execFileSync(CLAUDE, args, { cwd: world.temp, env, encoding: "utf8" });
}

test("the client finds nothing to say of the plugin, strictly asked", () => {
  expect(claude("plugin", "validate", "--strict", ASSETS)).toMatch(/Validation passed/);
});

test("the prompts weigh what they may, by the client's own count", () => {
  const told = claude("--plugin-dir", ASSETS, "plugin", "details", "minion");
  const tokens = (line: RegExp) => {
    const [, number = "none", k] = line.exec(told) ?? [];
    return Number(number.replaceAll(",", "")) * (k ? 1000 : 1);
  };
  expect(tokens(/Always-on:\s+~([\d,]+) tok/)).toBeLessThanOrEqual(120);
  const onInvoke = (name: string) => tokens(new RegExp(`^  ${name} .*~([\\d,.]+)(k?)$`, "m"));
  expect(onInvoke("minion")).toBeLessThanOrEqual(2000);
  expect(onInvoke("minion-worker") + onInvoke("minion-blueprint")).toBeLessThanOrEqual(2000);
});
