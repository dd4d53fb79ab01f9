import assert from "node:assert/strict";
import { test } from "node:test";
import { createStore } from "../src/store.js";
import { serve } from "./helpers/serve.js";

function filled() {
  const store = createStore();
  const rows = [
    ["ada", "user.created", "user/7", "2026-01-01T00:00:00.000Z"],
    ["ben", "user.removed", "user/7", "2026-01-02T00:00:00.000Z"],
    ["ada", "invoice.created", "invoice/1", "2026-01-03T00:00:00.000Z"],
    ["ada", "user-group.created", "group/1", "2026-01-04T00:00:00.000Z"],
  ];
  for (const [actor, action, target, at] of rows)
    store.append({ actor, action, target, at, details: {} });
  return store;
}

const cases = [
  ["", [1, 2, 3, 4]],
  ["?actor=ada", [1, 3, 4]],
  ["?actor=nobody", []],
  ["?action=user.created", [1]],
  ["?action=user", [1, 2]],
  ["?target=user/7&actor=ben", [2]],
  ["?from=2026-01-02T00:00:00Z&to=2026-01-04T00:00:00Z", [2, 3]],
  ["?from=2026-01-03T02:00:00%2B02:00", [3, 4]],
  ["?after=2", [3, 4]],
];
for (const [search, ids] of cases) {
  test(`GET /events${search} finds ${ids.length}`, async (t) => {
    const { call } = await serve(t, { store: filled() });
    const { status, body } = await call(`/events${search}`);
    assert.equal(status, 200);
    assert.deepEqual(
      body.events.map(({ id }) => id),
      ids,
    );
  });
}

test("pages follow one another until next is null", async (t) => {
  const { call } = await serve(t, { store: filled() });
  const seen = [];
  for (let next = 0; next !== null; ) {
    const { body } = await call(`/events?limit=3&after=${next}`);
    seen.push(body.events.map(({ id }) => id));
    next = body.next;
  }
  assert.deepEqual(seen, [[1, 2, 3], [4]]);
});

for (const search of ["limit=0", "limit=501", "limit=many", "from=monday", "acter=ada"]) {
  test(`GET /events?${search} is refused`, async (t) => {
    const { call } = await serve(t);
    const { status, body } = await call(`/events?${search}`);
    assert.equal(status, 422);
    assert.equal(body.error.code, "invalid");
  });
}
