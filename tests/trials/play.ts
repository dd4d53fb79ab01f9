import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Message, ModelRequest, Reply } from "../../demo/scripted-model.ts";
import type { Speaker, Turn } from "../../demo/talk.ts";

/** Whoever plays the model has to answer within so many turns. */
const TURNS = 150;

/**
 * A conversation that somebody else leads: `<n>.request` is what the client says, from 0 on; `<n>.reply` is waited for, a
 * JSON array of `{text}` and `{tool, input}`.
 * @param folder where both lie; made here
 * @param log gains each reply
 */
export function played(folder: string, log: Reply[]): Speaker {
  return async function* (first) {
    mkdirSync(folder, { recursive: true });
    for (let turn = first, number = 0; number < TURNS; number++) {
      lay(join(folder, `${number}.request`), number === 0 ? opening(turn.request) : heard(turn));
      const reply = await answer(join(folder, `${number}.reply`));
      log.push(reply);
      turn = yield reply;
    }
  };
}

/** Writes a file that is there whole or not at all. */
export function lay(path: string, text: string): void {
  writeFileSync(`${path}.part`, text);
  renameSync(`${path}.part`, path);
}

async function answer(path: string): Promise<Reply> {
  while (!existsSync(path)) await setTimeout(100);
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
