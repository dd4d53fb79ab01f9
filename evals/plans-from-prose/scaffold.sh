# The repository that the case works in.
set -e
mkdir -p src test
printf '{ "type": "module", "scripts": { "test": "node --test" } }\n' > package.json
printf '# Pages\n' > README.md
printf 'export const page = (title) => ({ title, address: `/pages/${title}` });\n' > src/page.js
cat > test/page.test.js <<'TEST'
import assert from "node:assert";
import { test } from "node:test";
import { page } from "../src/page.js";

test("a page has an address", () => assert.equal(page("a").address, "/pages/a"));
TEST
git init -q -b main
git add -A
git commit -qm 'chore: start'
