import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Message, ModelRequest, Reply } from "../../demo/scripted-model.ts";
import type { Speaker, Turn } from "../../demo/talk.ts";

/** Whoever plays the model has to answer within so many turns. */
const TURNS = 150;

/**
 * A conversation that somebody else leads: `<n>.request` is what the client says, from 0 on; `<n>.reply` is waited for, a
 * JSON array of `{text}` and `{tool, input}`. `tools` is how the client describes the tools that there are.
 * @param folder where all of it lies; made here
 * @param log gains each reply
 */
export function played(folder: string, log: Reply[]): Speaker {
  return async function* (first) {
    mkdirSync(folder, { recursive: true });
    let known = "";
    for (let turn = first, number = 0; number < TURNS; number++) {
      const tools = JSON.stringify(turn.request.definitions, null, 1);
      if (tools !== known) lay(join(folder, "tools"), `${tools}\n`);
      known = tools;
      lay(join(folder, `${number}.request`), number === 0 ? opening(turn.request) : heard(turn));
      const reply = await answer(join(folder, `${number}.reply`));
      log.push(reply);
      turn = yield reply;
    }
  };
}

/** Is the last word said in a conversation that was played: a reply without a call, to which the
 * client has said nothing more? */
export function isSilent(folder: string): boolean {
  if (!existsSync(folder)) return false;
  const names = readdirSync(folder);
  const replies = names.filter((name) => name.endsWith(".reply")).length;
  if (replies === 0 || names.includes(`${replies}.request`)) return false;
  return !replyIn(join(folder, `${replies - 1}.reply`)).some((part) => typeof part !== "string");
}

/** Writes a file that is there whole or not at all. */
export function lay(path: string, text: string): void {
  writeFileSync(`${path}.part`, text);
  renameSync(`${path}.part`, path);
}

/** Waits for a reply. What is none is said in `<n>.fault`, and waited for again. */
async function answer(path: string): Promise<Reply> {
  const fault = path.replace(/reply$/, "fault");
  for (;;) {
    while (!existsSync(path)) await setTimeout(100);
    try {
      const reply = replyIn(path);
      rmSync(fault, { force: true });
      return reply;
    } catch (error) {
      lay(fault, `${(error as Error).message}\n`);
      await setTimeout(1000);
    }
  }
}

function replyIn(path: string): Reply {
  const blocks = JSON.parse(readFileSync(path, "utf8")) as {
    text?: string;
    tool?: string;
    input?: object;
  }[];
  return blocks.map(({ text, tool, input }) =>
    tool ? { tool, input: (input ?? {}) as Record<string, unknown> } : (text ?? ""),
  );
}

const opening = ({ system, tools, messages }: ModelRequest): string =>
  `<system>\n${system}\n</system>\n<tools>${tools.join(", ")}</tools>\n${messages.map(said).join("\n")}\n`;

const said = ({ role, content }: Message): string =>
  `<${role}>\n${typeof content === "string" ? content : content.map((block) => (block.type === "text" ? block.text : JSON.stringify(block))).join("\n")}\n</${role}>`;

const heard = ({ outcomes, text }: Turn): string =>
  [
    ...outcomes.map(
      ({ code, output }) => `<result${code === 0 ? "" : ` exit="${code}"`}>\n${output}\n</result>`,
    ),
    text,
  ].join("\n");
