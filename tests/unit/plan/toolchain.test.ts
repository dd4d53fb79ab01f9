import { describe, expect, test } from "vitest";
import { findTools } from "../../../rails/blueprint/toolchain.ts";
import { project, TABLE } from "./project.ts";

/** `setup | lint | test | build`, each with the folder where it is not the root. */
async function tools(
  files: Record<string, unknown>,
  prefix = "",
  table = TABLE,
): Promise<string[]> {
  const found = await findTools(await project(files), prefix, table);
  return (["setup", "lint", "test", "build"] as const).map((name) => {
    const tool = found[name];
    if (!tool) return "-";
    const run = tool.run.replace(/^python3 -m venv .* && /, "VENV ");
    return tool.cwd ? `${run} in ${tool.cwd}` : run;
  });
}
const scripts = { lint: "eslint .", test: "vitest", build: "tsc" };
const devDependencies = { vitest: "1" };
const NO_TEST = 'echo "Error: no test specified" && exit 1';

describe("the shipped table", () => {
  test.each<[string, Record<string, unknown>, string[]]>([
    [
      "npm with a lockfile",
      { "package.json": { scripts, devDependencies }, "package-lock.json": "{}" },
      ["npm ci", "npm run lint", "npm test", "npm run build"],
    ],
    [
      "npm without one",
      { "package.json": { scripts, devDependencies } },
      ["npm install", "npm run lint", "npm test", "npm run build"],
    ],
    [
      "npm with a BOM",
      { "package.json": `\uFEFF${JSON.stringify({ scripts })}` },
      ["-", "npm run lint", "npm test", "npm run build"],
    ],
    [
      "nothing to install",
      {
        "package.json": { scripts: { test: "node --test" }, dependencies: {} },
        "package-lock.json": "{}",
      },
      ["-", "-", "npm test", "-"],
    ],
    [
      "npm's own test is none",
      { "package.json": { scripts: { test: NO_TEST, lint: " " } } },
      ["-", "-", "-", "-"],
    ],
    [
      "pnpm",
      { "package.json": { scripts, devDependencies }, "pnpm-lock.yaml": "" },
      ["pnpm install --frozen-lockfile", "pnpm run lint", "pnpm test", "pnpm run build"],
    ],
    [
      "pnpm by name",
      { "package.json": { scripts, devDependencies, packageManager: "pnpm@9.0.0" } },
      ["pnpm install", "pnpm run lint", "pnpm test", "pnpm run build"],
    ],
    [
      "yarn",
      { "package.json": { scripts, devDependencies }, "yarn.lock": "" },
      ["yarn install --frozen-lockfile", "yarn run lint", "yarn test", "yarn run build"],
    ],
    [
      "yarn, new",
      { "package.json": { scripts, devDependencies }, "yarn.lock": "", ".yarnrc.yml": "" },
      ["yarn install --immutable", "yarn run lint", "yarn test", "yarn run build"],
    ],
    [
      "uv",
      {
        "pyproject.toml": '[tool.ruff]\n[tool.pytest.ini_options]\ndependencies = ["x"]\n',
        "uv.lock": '[[package]]\nname = "pytest"\n[[package]]\nname = "ruff"\n',
      },
      ["uv sync", "uv run ruff check .", "uv run pytest", "-"],
    ],
    [
      "poetry",
      {
        "pyproject.toml": '[tool.poetry]\n[tool.ruff.lint]\npytest = "^8"\nruff = "*"\n',
        "poetry.lock": "",
        "tests/test_a.py": "",
      },
      ["poetry install", "poetry run ruff check .", "poetry run pytest", "-"],
    ],
    [
      "pip",
      {
        "requirements.txt": "flask\n",
        "requirements-dev.txt": "pytest\nruff\n",
        "tests/api/test_a.py": "",
      },
      [
        "VENV .venv/bin/pip install pytest -r requirements.txt -r requirements-dev.txt",
        ".venv/bin/ruff check .",
        ".venv/bin/python -m pytest",
        "-",
      ],
    ],
    [
      "pip, extras",
      {
        "pyproject.toml":
          '[project]\n[project.optional-dependencies]\ndev = ["ruff"]\n[tool.ruff]\n',
        "tests/test_a.py": "",
      },
      [
        "VENV .venv/bin/pip install pytest -e '.[dev]'",
        ".venv/bin/ruff check .",
        ".venv/bin/python -m pytest",
        "-",
      ],
    ],
    [
      "plain Python: no tool that nobody installs",
      { "ruff.toml": "", "tests/test_a.py": "" },
      ["VENV .venv/bin/pip install pytest", "-", ".venv/bin/python -m pytest", "-"],
    ],
    [
      "Go",
      { "go.mod": "module x\nrequire y v1\n" },
      ["go mod download", "go vet ./...", "go test ./...", "go build ./..."],
    ],
    [
      "Go, nothing to install",
      { "go.mod": "module x\n", ".golangci.yml": "" },
      ["-", "golangci-lint run", "go test ./...", "go build ./..."],
    ],
    [
      "Rust",
      { "Cargo.toml": "[package]\n", "Cargo.lock": 'source = "registry"\n' },
      ["cargo fetch --locked", "cargo clippy --all-targets", "cargo test", "cargo build"],
    ],
    [
      "Rust, nothing to install",
      { "Cargo.toml": "[package]\n" },
      ["-", "cargo clippy --all-targets", "cargo test", "cargo build"],
    ],
    [
      "uv, extras named test",
      {
        "pyproject.toml": '[project.optional-dependencies]\ntest = ["pytest"]\n',
        "uv.lock": "",
        "test_a.py": "",
      },
      ["uv sync --extra test", "-", "-", "-"],
    ],
    [
      "pip, one list of requirements, for development only",
      { "requirements-dev.txt": "pytest\n", "test_a.py": "" },
      [
        "VENV .venv/bin/pip install pytest -r requirements-dev.txt",
        "-",
        ".venv/bin/python -m pytest",
        "-",
      ],
    ],
    [
      "pip, extras named test",
      { "pyproject.toml": '[project.optional-dependencies]\ntest = ["pytest"]\n', "test_a.py": "" },
      ["VENV .venv/bin/pip install pytest -e '.[test]'", "-", ".venv/bin/python -m pytest", "-"],
    ],
    [
      "pip, dependencies and nothing that builds",
      { "pyproject.toml": '[project]\ndependencies = ["idna"]\n', "tests/test_a.py": "" },
      ["VENV .venv/bin/pip install pytest -e .", "-", ".venv/bin/python -m pytest", "-"],
    ],
    ["nothing known", { "README.md": "npm test" }, ["-", "-", "-", "-"]],
  ])("%s", async (_, files, expected) => expect(await tools(files)).toEqual(expected));

  test("the nearest folder wins, each tool on its own, the lockfile above counts", async () => {
    const files = {
      "package.json": { scripts, workspaces: ["packages/*"] },
      "pnpm-lock.yaml": "",
      "packages/a/package.json": {
        scripts: { test: "vitest", lint: "" },
        dependencies: { x: "1" },
      },
    };
    const expected = [
      "pnpm install --frozen-lockfile",
      "pnpm run lint",
      "pnpm test in packages/a",
      "pnpm run build",
    ];
    for (const prefix of ["packages/a", "packages/a/src/deep"])
      expect(await tools(files, prefix)).toEqual(expected);
    expect(await tools(files)).toEqual([
      "pnpm install --frozen-lockfile",
      "pnpm run lint",
      "pnpm test",
      "pnpm run build",
    ]);
  });
  test("says where each comes from", async () => {
    const root = await project({
      "app/package.json": { scripts, devDependencies },
      "app/package-lock.json": "{}",
      "go.mod": "",
    });
    const found = await findTools(root, "app", TABLE);
    expect([found.setup?.source, found.lint?.source, found.test?.source]).toEqual([
      "app/package-lock.json",
      "app/package.json: scripts.lint",
      "app/package.json: scripts.test",
    ]);
  });
  test("a package.json that cannot be read is a fault, not an empty one", async () => {
    await expect(tools({ "package.json": '{"scripts": {' })).rejects.toMatchObject({
      code: "broken-json",
      exit: 2,
    });
  });
});

describe("an edited table", () => {
  const table = (row: string) => `# Mine\n\n| Tool | Command | When |\n|---|---|---|\n${row}\n`;
  test("decides alone", async () => {
    expect(
      await tools(
        { Makefile: "lint:\n\ttrue\n", "go.mod": "" },
        "",
        table("| lint | `make lint \\| cat` | `Makefile ~ lint:` |"),
      ),
    ).toEqual(["-", "make lint | cat", "-", "-"]);
    expect(await tools({ Makefile: "x:" }, "", table("| lint | make | `!x.mk`, Make* |"))).toEqual([
      "-",
      "make",
      "-",
      "-",
    ]);
    expect(
      await tools({ Makefile: "x:" }, "", table("| lint | make | `{a,Make*} ~ {y,x}:` |")),
    ).toEqual(["-", "make", "-", "-"]);
    expect(
      await tools({ Makefile: "x:", "x.mk": "" }, "", table("| lint | make | `!x.mk`, Makefile |")),
    ).toEqual(["-", "-", "-", "-"]);
  });
  test.each([
    ["| lint | make |", /:5: is not/],
    ["| deploy | make | x |", /:5: is not/],
    ["| lint | make | @nothing |", /@nothing/],
    ["| lint | make | a b c |", /«a b c»/],
    ["", /no table/],
  ])("%j is a fault that says what", async (row, message) => {
    await expect(tools({}, "", table(row))).rejects.toThrow(message);
  });
});
