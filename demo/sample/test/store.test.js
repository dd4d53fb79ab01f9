import assert from "node:assert/strict";
import { test } from "node:test";
import { createStore } from "../src/store.js";

test("events are numbered from 1 and carry the time at which they were recorded", () => {
  const store = createStore({ now: () => new Date("2026-01-02T03:04:05Z") });
  assert.deepEqual(store.append({ actor: "ada" }), {
    actor: "ada",
    id: 1,
    recordedAt: "2026-01-02T03:04:05.000Z",
  });
  assert.equal(store.append({ actor: "ben" }).id, 2);
  assert.equal(store.size, 2);
});

test("an event cannot be changed once it is in", () => {
  const store = createStore();
  const entry = store.append({ actor: "ada" });
  assert.throws(() => {
    entry.actor = "eve";
  }, TypeError);
  store.list().pop();
  assert.equal(store.size, 1);
});

test("list takes those that match, oldest first", () => {
  const store = createStore();
  for (const actor of ["ada", "ben", "ada"]) store.append({ actor });
  const ids = store.list(({ actor }) => actor === "ada").map(({ id }) => id);
  assert.deepEqual(ids, [1, 3]);
});
