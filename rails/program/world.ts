import { AsyncLocalStorage } from "node:async_hooks";
import { type ChildProcess, spawn } from "node:child_process";
import { tmpdir, uptime } from "node:os";
import { resolve } from "node:path";
import { EXIT, Fault } from "./fault.ts";
import { readStream } from "./files.ts";

/** Where text goes: a terminal, a pipe, or a test. */
interface Output {
  write(text: string): unknown;
  /** False once the reader went away. */
  readonly writable?: boolean | undefined;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

/** All that is outside of the program. A verb gets it as its second argument; what lies deeper
 * (git, locks, what runs a command) asks `outside()`, so that forty functions need not hand it on.
 */
export interface World {
  readonly cwd: string;
  /** Also says which programs are called: they are looked for on its PATH. */
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Standard input to its end. @throws Fault `no-input` where nobody pipes anything in */
  input(): Promise<string>;
  /** The time, in milliseconds since 1970. */
  now(): number;
  /** When this process was started, in milliseconds since 1970; none where it does more than this
   * one call. */
  startedAt?(): number;
  /** How long the machine has slept since it was started, in milliseconds; none where that cannot be
   * told. */
  slept?(): number;
  /** The path of this program, as it was called. */
  readonly program: string;
  /** Starts this program once more, beside this call and for longer than it.
   * @param argv what it is called with
   * @param cwd where
   * @returns what its exit code is put in when it has ended */
  again(argv: readonly string[], cwd: string): { code?: number };
}

const worlds = new AsyncLocalStorage<World>();

/** Does something in a world: what it calls sees that one. */
export const within = <T>(world: World, work: () => Promise<T>): Promise<T> =>
  worlds.run(world, work);

/** The world in which the caller runs: that of `within`, else this process's own. */
export const outside = (): World => worlds.getStore() ?? ownWorld;

/** The folder for what is of no use later. */
export const temporaryFolder = (): string => outside().env.TMPDIR?.trim() || tmpdir();

/** The process that this code runs in. */
export const ownWorld: World = {
  get cwd() {
    return process.cwd();
  },
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  async input() {
    if (!process.stdin.isTTY) return readStream(process.stdin.setEncoding("utf8"), "the input");
    throw new Fault("no-input", "nothing comes on standard input", "pipe a text in", EXIT.usage);
  },
  now: () => Date.now(),
  startedAt: () => performance.timeOrigin,
  // One clock goes on while a machine sleeps, the other stands still; less than a second is neither.
  slept() {
    const gap = Math.round(uptime() * 1000 - Number(process.hrtime.bigint() / 1_000_000n));
    return gap > 1000 ? gap : 0;
  },
  get program() {
    return resolve(process.argv[1] ?? "");
  },
  again(argv, cwd) {
    const { execPath, argv: own, env } = process;
    return exitOf(
      spawn(execPath, [own[1] ?? "", ...argv], { cwd, env, detached: true, stdio: "ignore" }),
    );
  },
};

/** @returns what the exit code of a child is put in, once it has ended; it keeps nobody waiting */
function exitOf(child: ChildProcess): { code?: number } {
  const ended: { code?: number } = {};
  child.on("exit", (code) => Object.assign(ended, { code: code ?? EXIT.interrupted }));
  child.on("error", () => Object.assign(ended, { code: EXIT.writing }));
  child.unref();
  return ended;
}
