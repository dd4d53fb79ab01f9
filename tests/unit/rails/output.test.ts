import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, describe, expect, test } from "vitest";
import { keep, secretsIn } from "../../../rails/proof/output.ts";
import { SHIPPED } from "./run.ts";

const { output } = SHIPPED;
const folder = mkdtempSync(join(tmpdir(), "minion-output-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
async function kept(
  chunks: (string | Buffer)[],
  limit = 1e6,
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  const path = join(folder, String(files++));
  const file = await open(path, "wx");
  await keep(
    Readable.from(chunks, { objectMode: false }),
    file,
    limit,
    secretsIn(env, output.secret),
  );
  await file.close();
  return readFileSync(path, "utf8");
}

describe("secrets of the environment", () => {
  const env = {
    ANTHROPIC_API_KEY: "sk-ant-0123456789",
    GITHUB_TOKEN: "ghp_abcdefgh",
    DB_PASSWORD: "correct horse",
    DATABASE_URL: "postgres://me:hunter22@db.local/app",
    DEPLOY_PRIVATE_KEY: "-----BEGIN KEY-----\nMIIEvQIBADANBg\n-----END KEY-----",
    AUTHOR: "somebody",
    KEYBOARD: "qwertz-layout",
    PIN_SECRET: "1234",
  };
  test("are masked, whatever line they stand on", async () => {
    const text = Object.entries(env).map(([name, value]) => `${name}=${value}\n`);
    expect(await kept(text, 1e6, env)).toBe(
      [
        "ANTHROPIC_API_KEY=[ANTHROPIC_API_KEY]",
        "GITHUB_TOKEN=[GITHUB_TOKEN]",
        "DB_PASSWORD=[DB_PASSWORD]",
        "DATABASE_URL=postgres://me:[DATABASE_URL]@db.local/app",
        "DEPLOY_PRIVATE_KEY=[DEPLOY_PRIVATE_KEY]",
        "[DEPLOY_PRIVATE_KEY]",
        "[DEPLOY_PRIVATE_KEY]",
        "AUTHOR=somebody",
        "KEYBOARD=qwertz-layout",
        "PIN_SECRET=1234",
        "",
      ].join("\n"),
    );
  });
  test("also where they come in pieces", async () => {
    expect(await kept(["a ghp_ab", "cdefgh b", "\n"], 1e6, env)).toBe("a [GITHUB_TOKEN] b\n");
    const long = "x".repeat(70_000);
    expect(await kept([`${long}ghp_`, "abcdefgh"], 1e6, env)).toBe(`${long}[GITHUB_TOKEN]`);
  });
});

test("what is short is kept byte for byte, letters of more than one byte cut in two as well", async () => {
  const bytes = Buffer.from("grün ✔\nlast line without an end");
  expect(await kept([bytes.subarray(0, 3), bytes.subarray(3)])).toBe(bytes.toString());
});

test("of what is long the beginning and the end are kept, and it says how much is left out", async () => {
  const lines = Array.from({ length: 10_000 }, (_, index) => `line ${index}\n`);
  const text = await kept(lines, 10_000);
  expect(text.startsWith("line 0\nline 1\n")).toBe(true);
  expect(text.endsWith("line 9998\nline 9999\n")).toBe(true);
  expect(text.length).toBeLessThan(10_200);
  const [, left] = /… (\d+) characters are left out here …/.exec(text) ?? [];
  expect(Number(left) + text.replace(/\n….*…\n/, "").length).toBe(lines.join("").length);
});
