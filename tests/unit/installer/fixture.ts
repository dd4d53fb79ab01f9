import { createHash } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import { type Change, type ChangeFlags, change, type World } from "../../../installer/change.ts";
import type { Verb } from "../../../installer/plan.ts";

const made: string[] = [];
afterAll(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A fresh temporary folder, gone after the file's tests. */
export function temporary(name = "minion-installer-"): string {
  const folder = mkdtempSync(join(tmpdir(), name));
  made.push(folder);
  return folder;
}

/** Lays files: path → text. A path that ends with `/` is a folder. */
export function lay(folder: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    if (path.endsWith("/")) {
      mkdirSync(join(folder, path), { recursive: true });
      continue;
    }
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

export const FILES: Readonly<Record<string, string>> = {
  ".claude-plugin/plugin.json": JSON.stringify({
    name: "minion",
    version: "0.1.0",
    description: "A foreman.",
  }),
  "commands/minion.md":
    '---\nname: minion\ndescription: "Runs tasks. Use when there are several."\nargument-hint: "[tasks]"\ndisable-model-invocation: true\n---\n\nDo $ARGUMENTS with minion:minion-blueprint.\n',
  "commands/board.md":
    '---\nname: board\ndescription: "Shows the board."\n---\n\n!`minion board`\n',
  "agents/minion-worker.md":
    '---\nname: minion-worker\ndescription: "Does one task."\nisolation: worktree\n---\n\nWork.\n',
  "skills/minion-blueprint/SKILL.md":
    '---\nname: minion-blueprint\ndescription: "The rails."\n---\n\nBranch, implement, lint.\n',
  "skills/minion-overlays/SKILL.md":
    '---\nname: minion-overlays\ndescription: "Overlays."\n---\n\nSee below.\n',
  "skills/minion-overlays/domains/backend.md": "# Backend\n",
  "hooks/hooks.json": '{"hooks":{}}\n',
  "hooks/guard.sh": "#!/bin/sh\nexit 0\n",
  "bin/minion": '#!/usr/bin/env node\nconsole.log("0.1.0");\n',
  "bin/package.json": '{ "type": "commonjs" }\n',
};

/** A package's assets; `changes` replaces files, undefined leaves them out. */
export function makeAssets(
  version = "0.1.0",
  changes: Record<string, string | undefined> = {},
): string {
  const assets = join(temporary(), "assets");
  const files: Record<string, string | undefined> = {
    ...FILES,
    ".claude-plugin/plugin.json": JSON.stringify({
      name: "minion",
      version,
      description: "A foreman.",
    }),
    ...changes,
  };
  lay(
    assets,
    Object.fromEntries(
      Object.entries(files).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
  );
  for (const path of ["bin/minion", "hooks/guard.sh"])
    if (files[path] !== undefined) chmodSync(join(assets, path), 0o755);
  return assets;
}

/** Everything in a folder: path → kind, mode and hash, so that two trees can be compared byte for
 * byte. */
export function snapshot(folder: string, below = ""): Record<string, string> {
  const tree: Record<string, string> = {};
  for (const name of lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()
    ? readdirSync(join(folder, below))
    : []) {
    const path = below + name;
    const stats = lstatSync(join(folder, path));
    const mode = (stats.mode & 0o7777).toString(8);
    if (stats.isDirectory())
      Object.assign(tree, { [path]: `folder ${mode}` }, snapshot(folder, `${path}/`));
    else if (stats.isSymbolicLink()) tree[path] = `link ${readlinkSync(join(folder, path))}`;
    else if (stats.isFile())
      tree[path] = `file ${mode} ${createHash("sha1")
        .update(readFileSync(join(folder, path)))
        .digest("hex")}`;
    else tree[path] = "other";
  }
  return tree;
}

/** A person's `.claude` with years in it. */
export const PERSON: Readonly<Record<string, string>> = {
  "settings.json": '{\n  // mine\n  "model": "opus",\n}\n',
  "agents/reviewer.md": "---\nname: reviewer\ndescription: mine\n---\nReview.\n",
  "commands/deploy.md": "Deploy.\n",
  "skills/notes/SKILL.md": "---\nname: notes\ndescription: mine\n---\nNotes.\n",
  "workflows/nightly.js": "export const meta = {};\n",
  "projects/": "",
  "CLAUDE.md": "Be brief.\n",
};

/** A verb on a root, as the command line runs it. */
export function act(
  verb: Verb,
  dir: string,
  assets: string,
  flags: ChangeFlags = {},
  world: Partial<World> = {},
): Promise<Change> {
  return change(
    verb,
    { dir, ...flags },
    { assets, at: { env: {}, cwd: dir, home: dir }, ...world },
  );
}
