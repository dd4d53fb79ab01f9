import { describe, expect, test } from "vitest";
import { findTools, folderOf } from "../../../rails/blueprint/toolchain.ts";
import { project, TABLE } from "./project.ts";

const VENV = "python3 -m venv .venv && echo '*' > .venv/.gitignore && .venv/bin/pip install ";
const UV_LOCK =
  'version = 1\n\n[[package]]\nname = "pytest"\nversion = "8.3.4"\n\n[[package]]\nname = "ruff"\n';
const GRADLE = { gradlew: "#!/bin/sh\n", "gradle/wrapper/gradle-wrapper.properties": "" };
const CSPROJ = '<Project Sdk="Microsoft.NET.Sdk">\n</Project>\n';
const TESTS_CSPROJ = CSPROJ.replace(
  "\n<",
  '\n<PackageReference Include="Microsoft.NET.Test.Sdk" />\n<',
);

/** `command in folder ← source`, and - where there is none: setup, lint, test, build. */
async function toolsFor(files: Record<string, unknown>, taskFiles: string[]): Promise<string[]> {
  const tasks = [{ done: false, files: taskFiles.map((path) => ({ path, guessed: false })) }];
  const found = await findTools(await project(files), folderOf(tasks, ""), TABLE);
  return (["setup", "lint", "test", "build"] as const).map((name) => {
    const tool = found[name];
    return tool ? `${tool.run.replace(VENV, "VENV ")} in ${tool.cwd || "."} ← ${tool.source}` : "-";
  });
}

/** As such projects lie in public repositories: what matters of their files, the files that the
 * tasks name, the tools. */
const LAYOUTS: readonly [
  name: string,
  files: Record<string, unknown>,
  taskFiles: string[],
  tools: string[],
][] = [
  [
    "an npm workspace: the package's own scripts, the rest from the root",
    {
      "package.json": {
        workspaces: ["packages/*"],
        scripts: { lint: "eslint .", build: "tsc -b" },
      },
      "package-lock.json": "{}",
      "packages/api/package.json": { scripts: { test: "vitest run", dev: "vite" } },
      "packages/ui/package.json": { scripts: { test: "vitest run" } },
    },
    ["packages/api/src/route.ts", "packages/api/test/**"],
    [
      "npm ci in . ← package-lock.json",
      "npm run lint in . ← package.json: scripts.lint",
      "npm test in packages/api ← packages/api/package.json: scripts.test",
      "npm run build in . ← package.json: scripts.build",
    ],
  ],
  [
    "an npm workspace without scripts at its root: no build, since npm knows no order",
    {
      "package.json": {
        workspaces: ["client", "server"],
        scripts: { test: 'echo "Error: no test specified"; exit 1' },
      },
      "package-lock.json": "{}",
      "client/package.json": { scripts: { lint: "eslint .", build: "vite build" } },
      "server/package.json": { scripts: { test: "node --test" } },
    },
    ["client/src/app.ts", "server/src/app.ts"],
    [
      "npm ci in . ← package-lock.json",
      "npm run lint --workspaces --if-present in . ← package.json: workspaces",
      "npm test --workspaces --if-present in . ← package.json: workspaces",
      "-",
    ],
  ],
  [
    "an npm workspace where a package fails by npm's own test script",
    {
      "package.json": { workspaces: ["packages/*"] },
      "packages/a/package.json": { scripts: { test: "node --test" } },
      "packages/b/package.json": { scripts: { test: 'echo "Error: no test specified" && exit 1' } },
    },
    ["packages/a/x.js", "packages/b/x.js"],
    ["npm install in . ← package.json: workspaces", "-", "-", "-"],
  ],
  [
    "a pnpm workspace without scripts at its root",
    {
      "package.json": { private: true },
      "pnpm-workspace.yaml": 'packages:\n  - "packages/*"\n',
      "pnpm-lock.yaml": "lockfileVersion: '9.0'\n",
      "packages/core/package.json": { scripts: { build: "tsup", test: "vitest run" } },
      "packages/cli/package.json": { scripts: { build: "tsup" } },
    },
    ["packages/core/src/index.ts", "packages/cli/src/index.ts"],
    [
      "pnpm install --frozen-lockfile in . ← pnpm-lock.yaml",
      "-",
      "pnpm -r --if-present run test in . ← pnpm-workspace.yaml",
      "pnpm -r --if-present run build in . ← pnpm-workspace.yaml",
    ],
  ],
  [
    "a pnpm workspace, one package",
    {
      "package.json": { private: true, scripts: { lint: "eslint ." } },
      "pnpm-workspace.yaml": 'packages:\n  - "packages/*"\n',
      "pnpm-lock.yaml": "lockfileVersion: '9.0'\n",
      "packages/core/package.json": { scripts: { build: "tsup", test: "vitest run" } },
      "packages/cli/package.json": { scripts: { build: "tsup" } },
    },
    ["packages/cli"],
    [
      "pnpm install --frozen-lockfile in . ← pnpm-lock.yaml",
      "pnpm run lint in . ← package.json: scripts.lint",
      "pnpm -r --if-present run test in . ← pnpm-workspace.yaml",
      "pnpm run build in packages/cli ← packages/cli/package.json: scripts.build",
    ],
  ],
  [
    "Turborepo: it builds what a package needs, the package's own script does not",
    {
      "package.json": {
        packageManager: "pnpm@9.0.0",
        scripts: { build: "turbo run build", test: "turbo run test" },
      },
      "turbo.json": { tasks: { build: { dependsOn: ["^build"] } } },
      "pnpm-workspace.yaml": 'packages:\n  - "apps/*"\n',
      "pnpm-lock.yaml": "",
      "apps/web/package.json": {
        scripts: { build: "next build", test: "jest" },
        dependencies: { "@repo/ui": "*" },
      },
    },
    ["apps/web/app/page.tsx"],
    [
      "pnpm install --frozen-lockfile in . ← pnpm-lock.yaml",
      "-",
      "pnpm test in . ← package.json: scripts.test",
      "pnpm run build in . ← package.json: scripts.build",
    ],
  ],
  [
    "a workspace of yarn 4, and none of yarn 1, which cannot skip a package",
    {
      "package.json": { workspaces: ["packages/*"], packageManager: "yarn@4.5.0" },
      "yarn.lock": "",
      ".yarnrc.yml": "nodeLinker: node-modules\n",
      "packages/a/package.json": { scripts: { test: "node --test" } },
      "packages/b/package.json": { scripts: { build: "tsc" } },
    },
    ["packages"],
    [
      "yarn install --immutable in . ← yarn.lock",
      "-",
      "yarn workspaces foreach --all --topological-dev run test in . ← package.json: workspaces",
      "yarn workspaces foreach --all --topological-dev run build in . ← package.json: workspaces",
    ],
  ],
  [
    "a workspace of yarn 1: none, rather than one that fails at a package without the script",
    {
      "package.json": { workspaces: ["packages/*"] },
      "yarn.lock": "# yarn lockfile v1\n",
      "packages/a/package.json": { scripts: { test: "node --test" } },
    },
    ["packages/a/x.js", "packages/b/x.js"],
    ["yarn install --frozen-lockfile in . ← yarn.lock", "-", "-", "-"],
  ],
  [
    "bun: its own runner where there are tests and no script",
    {
      "package.json": {
        devDependencies: { "@types/bun": "latest" },
        scripts: { build: "bun build.ts" },
      },
      "bun.lock": '{ "lockfileVersion": 1 }',
      "test/core.test.ts": "",
    },
    ["src/core.ts"],
    [
      "bun install --frozen-lockfile in . ← bun.lock",
      "-",
      "bun test in . ← test/core.test.ts",
      "bun run build in . ← package.json: scripts.build",
    ],
  ],
  [
    "a workspace of bun",
    {
      "package.json": { workspaces: ["packages/*"], devDependencies: { typescript: "5" } },
      "bun.lock": '{ "lockfileVersion": 1 }',
      "packages/a/package.json": { scripts: { test: "bun test" } },
    },
    ["packages/a/x.ts", "packages/b/x.ts"],
    [
      "bun install --frozen-lockfile in . ← bun.lock",
      "-",
      "bun run --filter '*' test in . ← package.json: workspaces",
      "-",
    ],
  ],
  [
    "a pnpm workspace below the root, a linter in one package",
    {
      "a/pnpm-workspace.yaml": "packages: [x]\n",
      "a/x/package.json": { scripts: { lint: "eslint ." } },
      "package.json": { workspaces: ["x"], packageManager: "yarn@4.5.0" },
      "x/package.json": { scripts: { lint: "eslint ." } },
    },
    ["a/x/src/a.ts", "a/y/src/a.ts"],
    [
      "yarn install in . ← package.json: packageManager",
      "pnpm -r --if-present run lint in a ← a/pnpm-workspace.yaml",
      "-",
      "-",
    ],
  ],
  [
    "yarn 4, a linter in one package",
    {
      "package.json": { workspaces: ["x"], packageManager: "yarn@4.5.0" },
      "x/package.json": { scripts: { lint: "eslint ." } },
    },
    ["y/a.ts"],
    [
      "yarn install in . ← package.json: packageManager",
      "yarn workspaces foreach --all --topological-dev run lint in . ← package.json: workspaces",
      "-",
      "-",
    ],
  ],
  [
    "bun by name, its workspace's linter and build",
    {
      "package.json": { workspaces: ["libs/*"], packageManager: "bun@1.2.0" },
      "libs/a/package.json": { scripts: { lint: "eslint .", build: "bun build.ts" } },
    },
    ["x/a.ts"],
    [
      "bun install in . ← package.json: packageManager",
      "bun run --filter '*' lint in . ← package.json: workspaces",
      "-",
      "bun run --filter '*' build in . ← package.json: workspaces",
    ],
  ],
  [
    "bun's scripts",
    {
      "package.json": {
        dependencies: { elysia: "1" },
        scripts: { lint: "eslint .", test: "bun test && tsc --noEmit" },
      },
      "bun.lockb": "",
    },
    ["src/a.ts"],
    [
      "bun install --frozen-lockfile in . ← bun.lockb",
      "bun run lint in . ← package.json: scripts.lint",
      "bun run test in . ← package.json: scripts.test",
      "-",
    ],
  ],
  [
    "a uv workspace, one member: run from where its tests belong to",
    {
      "pyproject.toml":
        '[project]\nname = "mcp"\n[tool.uv.workspace]\nmembers = ["examples/*"]\n[tool.ruff]\nline-length = 120\n[tool.pytest.ini_options]\n',
      "uv.lock": UV_LOCK,
      "examples/bot/pyproject.toml": '[project]\nname = "bot"\ndependencies = ["mcp"]\n',
      "examples/bot/tests/test_bot.py": "",
    },
    ["examples/bot/tests/test_bot.py", "examples/bot/bot/main.py"],
    [
      "uv sync --all-packages in . ← uv.lock",
      "uv run ruff check . in . ← pyproject.toml: [tool.ruff",
      "uv run pytest in examples/bot ← examples/bot/pyproject.toml",
      "-",
    ],
  ],
  [
    "uv, where the tools are an extra; and pre-commit's ruff is not called",
    {
      "pyproject.toml":
        '[project]\n[project.optional-dependencies]\ndev = [\n  "pytest",\n]\n[tool.ruff]\n',
      "uv.lock": 'version = 1\n[[package]]\nname = "pytest"\n',
      ".pre-commit-config.yaml": "repos:\n  - repo: https://github.com/astral-sh/ruff-pre-commit\n",
      "tests/unit/test_a.py": "",
    },
    ["tests/unit/test_a.py"],
    ["uv sync --extra dev in . ← uv.lock", "-", "uv run pytest in . ← pyproject.toml", "-"],
  ],
  [
    "poetry, where only tests are named",
    {
      "pyproject.toml":
        '[tool.poetry]\nname = "x"\n[tool.poetry.group.dev.dependencies]\npytest = "^8"\n[build-system]\nrequires = ["poetry-core"]\n',
      "poetry.lock": '[[package]]\nname = "pytest"\n',
      Makefile: "lint:\n\tflake8\n",
      "tests/conftest.py": "",
      "tests/test_a.py": "",
    },
    ["tests/test_a.py", "tests/conftest.py"],
    ["poetry install in . ← poetry.lock", "-", "poetry run pytest in . ← pyproject.toml", "-"],
  ],
  [
    "tox, on the Python that is there",
    {
      "tox.ini":
        "[tox]\nenvlist = py{310,311,312}, lint\n\n[testenv]\ndeps = pytest\ncommands = pytest {posargs}\n\n[testenv:lint]\ndeps = flake8\ncommands = flake8 src\n",
      "setup.cfg": "[options]\ninstall_requires =\n  attrs\n",
      "setup.py": "from setuptools import setup\nsetup()\n",
      "tests/test_a.py": "",
    },
    ["src/a.py"],
    [
      "VENV tox in . ← tox.ini: [testenv]",
      ".venv/bin/tox -e lint in . ← tox.ini: [testenv:lint]",
      ".venv/bin/tox -e py in . ← tox.ini: [testenv]",
      "-",
    ],
  ],
  [
    "tox with factors, of which the plain environment would lack the dependencies",
    {
      "tox.ini":
        "[tox]\nenvlist=py{38,39}-pytest{7,8}\n\n[testenv]\ncommands=pytest\ndeps=\n  pytest7: pytest~=7.0\n",
      "setup.py": "from setuptools import setup\nsetup()\n",
      "tests/test_a.py": "",
    },
    ["src/a.py"],
    ["VENV pytest -e . in . ← setup.py", "-", ".venv/bin/python -m pytest in . ← setup.py", "-"],
  ],
  [
    "Python by requirements, with a Makefile that knows of no environment",
    {
      "pyproject.toml":
        '[build-system]\nrequires = ["hatchling"]\n[project]\ndependencies = [\n  "idna",\n]\n[tool.ruff]\n',
      "requirements.txt": "-e .[cli]\nruff==0.0.291\npytest==7.4.2\n",
      Makefile: "lint:\n\tmypy .\ntest:\n\tpytest\n",
      "tests/test_a.py": "",
    },
    ["httpx/_client.py"],
    [
      "VENV pytest -r requirements.txt in . ← requirements.txt",
      ".venv/bin/ruff check . in . ← requirements.txt: ruff",
      ".venv/bin/python -m pytest in . ← requirements.txt",
      "-",
    ],
  ],
  [
    "Go with a Makefile: its targets, and the compiler for the build",
    {
      "go.mod":
        "module github.com/spf13/cobra\n\ngo 1.15\n\nrequire github.com/spf13/pflag v1.0.5\n",
      Makefile:
        'BIN="./bin"\n\n.PHONY: lint test\n\ntest: install_deps\n\tgo test -v ./...\n\nlint:\n\tgolangci-lint run -v\n',
    },
    ["command.go", "doc/"],
    [
      "go mod download in . ← go.mod: require",
      "make lint in . ← Makefile: lint:",
      "make test in . ← Makefile: test:",
      "go build ./... in . ← go.mod",
    ],
  ],
  [
    "a Go module below the root",
    {
      "go.work": "use ./services/api\n",
      "services/api/go.mod": "module x\n",
      "services/api/main.go": "",
      "docs/Makefile": "help:\n\t@sphinx-build -M help\n%: Makefile\n",
    },
    ["services/api/main.go"],
    [
      "-",
      "go vet ./... in services/api ← services/api/go.mod",
      "go test ./... in services/api ← services/api/go.mod",
      "go build ./... in services/api ← services/api/go.mod",
    ],
  ],
  [
    "Rust: a package that is also a workspace, warnings refused as its CI does",
    {
      "Cargo.toml":
        '[package]\nname = "ripgrep"\n\n[workspace]\nmembers = [\n  "crates/globset",\n]\n',
      "Cargo.lock": 'source = "registry+https://github.com/rust-lang/crates.io-index"\n',
      ".github/workflows/ci.yml": "      - run: cargo clippy --all -- -D warnings\n",
      "crates/globset/Cargo.toml": '[package]\nname = "globset"\n',
    },
    ["crates/globset/src/lib.rs", "crates/core/main.rs"],
    [
      "cargo fetch --locked in . ← Cargo.lock: source =",
      "cargo clippy --all-targets -- -D warnings in . ← Cargo.toml",
      "cargo test --workspace in . ← Cargo.toml: [workspace]",
      "cargo build in . ← Cargo.toml",
    ],
  ],
  [
    "Rust with a justfile, of which only recipes without arguments are taken",
    {
      "Cargo.toml": '[package]\nname = "just"\n',
      justfile:
        "alias t := test\n\ntest *args:\n  cargo test {{args}}\n\nlint path:\n  cargo clippy -p {{path}}\n",
    },
    ["src/run.rs"],
    [
      "-",
      "cargo clippy --all-targets in . ← Cargo.toml",
      "just test in . ← justfile: test *",
      "cargo build in . ← Cargo.toml",
    ],
  ],
  [
    "a Gradle multi-project, one project: the wrapper from there",
    {
      ...GRADLE,
      "settings.gradle.kts": 'include(":app", ":lib:core")\n',
      "build.gradle.kts": "",
      "lib/core/build.gradle.kts": "plugins { `java-library` }\n",
      "app/build.gradle.kts": "plugins { application }\n",
    },
    ["lib/core/src/main/java/", "lib/core/build.gradle.kts"],
    [
      "-",
      "-",
      "../../gradlew test in lib/core ← lib/core/build.gradle.kts",
      "../../gradlew assemble in lib/core ← lib/core/build.gradle.kts",
    ],
  ],
  [
    "a Gradle multi-project, two projects",
    {
      ...GRADLE,
      "settings.gradle": "include 'app', 'core'\n",
      "app/build.gradle": "",
      "core/build.gradle": "",
    },
    ["core/src/A.java", "app/src/B.java"],
    [
      "-",
      "-",
      "./gradlew test in . ← settings.gradle",
      "./gradlew assemble in . ← settings.gradle",
    ],
  ],
  [
    "Gradle without its wrapper",
    { "build.gradle": "apply plugin: 'java'\n" },
    ["src/main/java/A.java"],
    ["-", "-", "gradle test in . ← build.gradle", "gradle assemble in . ← build.gradle"],
  ],
  [
    "Maven modules: with the whole, whose neighbours a module alone would not find",
    {
      mvnw: "#!/bin/sh\n",
      "pom.xml":
        "<project><modules><module>api</module><module>core</module></modules></project>\n",
      "api/pom.xml": "<project><parent/></project>\n",
    },
    ["api/src/main/java/A.java"],
    [
      "-",
      "-",
      "./mvnw --batch-mode test in . ← pom.xml",
      "./mvnw --batch-mode -DskipTests package in . ← pom.xml",
    ],
  ],
  [
    "Maven without its wrapper",
    { "service/pom.xml": "<project/>\n" },
    ["service/src/main/java/A.java"],
    [
      "-",
      "-",
      "mvn --batch-mode test in service ← service/pom.xml",
      "mvn --batch-mode -DskipTests package in service ← service/pom.xml",
    ],
  ],
  [
    ".NET: the solution, since testing a project that has no tests says nothing",
    {
      "MediatR.sln": "Microsoft Visual Studio Solution File\n",
      "src/MediatR/MediatR.csproj": CSPROJ,
      "test/MediatR.Tests/MediatR.Tests.csproj": TESTS_CSPROJ,
    },
    ["src/MediatR/Mediator.cs"],
    [
      "dotnet restore in . ← MediatR.sln",
      "-",
      "dotnet test in . ← MediatR.sln",
      "dotnet build in . ← MediatR.sln",
    ],
  ],
  [
    ".NET where the folder says two things",
    { "A.sln": "", "A.csproj": CSPROJ },
    ["Program.cs"],
    ["-", "-", "-", "-"],
  ],
  [
    "C by hand: make check",
    { Makefile: "CC ?= cc\nall: x\nbuild: x\nunittest: x\n\t./x\ncheck: unittest\n", "x.c": "" },
    ["x.c"],
    ["-", "-", "make check in . ← Makefile: check:", "make build in . ← Makefile: build:"],
  ],
  [
    "just alone",
    {
      ".justfile":
        "[private]\n@lint:\n  shellcheck *.sh\nbuild target='all': lint\n  ./x\nbuild:\n  ./build.sh\n",
    },
    ["x.sh"],
    ["-", "just lint in . ← .justfile: @lint:", "-", "just build in . ← .justfile: build:"],
  ],
  [
    "a Makefile that was generated",
    { Makefile: "test:\n\tctest\n", "CMakeLists.txt": "enable_testing()\n" },
    ["x.c"],
    ["-", "-", "-", "-"],
  ],
  [
    "a Makefile beside scripts: the scripts",
    {
      Makefile: "test:\n\tdocker compose run test\nlint:\n\tnpm run lint\n",
      "package.json": { scripts: { test: "vitest" } },
    },
    ["src/a.ts"],
    ["-", "make lint in . ← Makefile: lint:", "npm test in . ← package.json: scripts.test", "-"],
  ],
];

describe("what is proposed for", () => {
  test.each(LAYOUTS)("%s", async (_, files, taskFiles, tools) => {
    expect(await toolsFor(files, taskFiles)).toEqual(tools);
  });
});

describe("the folder of a list's files", () => {
  const task = (done: boolean, ...paths: string[]) => ({
    done,
    files: paths.map((path) => ({ path, guessed: path.startsWith("g") })),
  });
  test.each([
    ["no task", [], "at", "at"],
    ["a task without files", [task(false, "a/b.ts"), task(false)], "at", "at"],
    ["one file", [task(false, "a/b.ts")], "", "a/b.ts"],
    [
      "a done one counts for nothing",
      [task(false, "a/b/x.ts", "a/b/y/"), task(true, "c"), task(true)],
      "",
      "a/b",
    ],
    ["guesses count", [task(false, "a/b.ts"), task(false, "g.json")], "at", "at"],
    ["below the list's folder", [task(false, "./a/b/x.ts", "a\\b\\y.ts")], "at", "at/a/b"],
    ["up to the first wildcard", [task(false, "a/b/**", "a/b/c*/x", "a/b/{x,y}.ts")], "", "a/b"],
    ["a name that only begins like another", [task(false, "pkg/a/x", "pkg/ab/x")], "", "pkg"],
    ["a folder and what is in it", [task(false, "pkg/a/", "pkg/a/src/x")], "", "pkg/a"],
    ["everywhere", [task(false, "**/*.md")], "", ""],
    ["brackets are a name", [task(false, "app/[id]/page.tsx", "app/[id]/x.ts")], "", "app/[id]"],
  ])("%s", (_, tasks, prefix, folder) => {
    expect(folderOf(tasks, prefix)).toBe(folder);
  });
});
