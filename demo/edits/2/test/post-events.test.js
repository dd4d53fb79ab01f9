import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "./helpers/serve.js";

const event = {
  actor: "ada",
  action: "user.created",
  target: "user/7",
  at: "2026-01-02T03:04:05Z",
};
const headers = { "content-type": "application/json" };

test("an event is recorded and comes back with its number", async (t) => {
  const { call, store } = await serve(t);
  const { status, body } = await call("/events", { method: "POST", headers, json: event });
  assert.equal(status, 201);
  assert.equal(body.id, 1);
  assert.equal(body.actor, "ada");
  assert.deepEqual(store.list(), [body]);
});

test("an event that does not fit is refused with its fields, and nothing is recorded", async (t) => {
  const { call, store } = await serve(t);
  const { status, body } = await call("/events", {
    method: "POST",
    headers,
    json: { ...event, action: "x" },
  });
  assert.equal(status, 422);
  assert.deepEqual(
    body.error.details.map(({ field }) => field),
    ["action"],
  );
  assert.equal(store.size, 0);
});

test("a client cannot choose the number of an event", async (t) => {
  const { call } = await serve(t);
  const { status } = await call("/events", { method: "POST", headers, json: { ...event, id: 9 } });
  assert.equal(status, 422);
});

test("what is not JSON is refused", async (t) => {
  const { call } = await serve(t);
  assert.equal((await call("/events", { method: "POST", headers, body: "{" })).status, 400);
  const plain = { "content-type": "text/plain" };
  assert.equal(
    (await call("/events", { method: "POST", headers: plain, json: event })).status,
    415,
  );
});

test("a body over the limit is refused", async (t) => {
  const { call, store } = await serve(t);
  const json = { ...event, details: { note: "x".repeat(70_000) } };
  assert.equal((await call("/events", { method: "POST", headers, json })).status, 413);
  assert.equal(store.size, 0);
});
