import { EXIT, type ExitCode } from "../program/fault.ts";
import { oneLine, shown } from "../program/shown.ts";
import type { Verb } from "../program/verb.ts";
import { hook } from "./hook.ts";

export const verb: Verb = {
  usage: "hook <event>",
  about: "answer one of Claude Code's hooks, whose call comes on stdin",
  isHidden: true,
  async run({ words: [event = ""] }, world) {
    let exit: ExitCode = EXIT.done;
    try {
      const input: unknown = JSON.parse(await world.input());
      if (typeof input !== "object" || input === null)
        throw new Error("what came on stdin is no JSON object");
      const answer = await hook(event, input);
      world.stdout.write(shown(answer.stdout ?? ""));
      world.stderr.write(shown(answer.stderr ?? ""));
      exit = answer.exit ?? EXIT.done;
      await answer.given?.();
    } catch (error) {
      // A fault of ours must not stop a person's session: said where a log shows it, and no more.
      world.stderr.write(`minion hook ${event}: ${oneLine((error as Error).message)}\n`);
    }
    return { text: "", data: {}, exit };
  },
};
