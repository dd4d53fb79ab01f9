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
cat > tasks.md <<'TASKS'
### Task 1: Slugs
Add src/slug.js with `slug(title)`: lower case, what is neither letter nor digit becomes one hyphen, none at either end.
Files: src/slug.js, test/slug.test.js
Agent: tdd-developer
Verify: npm test
Risk: low

### Task 2: Feed
Add src/feed.js with `feed(pages)`: the newest ten by `date`, as JSON text.
Files: src/feed.js, test/feed.test.js
Agent: tdd-developer
Verify: npm test
Risk: low
TASKS
git init -q -b main
git add -A
git commit -qm 'chore: start'
