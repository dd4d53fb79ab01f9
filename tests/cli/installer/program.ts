import { spawn } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { build } from "esbuild";
import { makeAssets, temporary } from "../../unit/installer/fixture.ts";

export const CLAUDE_BIN = resolve("node_modules/.bin");

export interface Result {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The program as it is published: a bundle beside its assets. Gives the bundle's path. */
export async function publish(
  version = "0.1.0",
  assets = makeAssets(version),
  entry = "installer/cli.ts",
): Promise<string> {
  const folder = temporary();
  const program = join(folder, "dist/minion-toolkit.js");
  await build({
    entryPoints: [entry],
    outfile: program,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    define: { __VERSION__: JSON.stringify(version) },
    logLevel: "error",
  });
  writeFileSync(join(folder, "dist/package.json"), '{ "type": "commonjs" }\n');
  mkdirSync(join(folder, "assets"), { recursive: true });
  cpSync(assets, join(folder, "assets"), { recursive: true });
  return program;
}

export interface Call {
  readonly home: string;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Puts the real client on PATH. */
  readonly claude?: boolean;
}

export const QUIET = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  DISABLE_TELEMETRY: "1",
};

/** Starts a program in an environment of its own and waits for its end. */
export function call(
  file: string,
  args: readonly string[],
  { home, cwd, env, claude }: Call,
): Promise<Result> {
  const path = process.env.PATH?.split(delimiter).filter((folder) => folder !== CLAUDE_BIN) ?? [];
  return new Promise((done, fail) => {
    const child = spawn(file, args, {
      cwd: cwd ?? home,
      env: {
        ...QUIET,
        HOME: home,
        USERPROFILE: home,
        PATH: [...(claude ? [CLAUDE_BIN] : []), ...path].join(delimiter),
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (data) => (stdout += data));
    child.stderr.on("data", (data) => (stderr += data));
    child.on("error", fail);
    child.on("close", (code, signal) => done({ code, signal, stdout, stderr }));
  });
}

export const node = (program: string, args: readonly string[], options: Call): Promise<Result> =>
  call(process.execPath, [program, ...args], options);
