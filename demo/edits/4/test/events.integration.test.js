import assert from "node:assert/strict";
import { test } from "node:test";
import { parse, storedEvent } from "../src/event.js";
import { serve } from "./helpers/serve.js";

function post(call, event) {
  return call("/events", {
    method: "POST",
    headers: { "content-type": "application/json" },
    json: event,
  });
}

function sample(index) {
  return {
    actor: index % 2 === 0 ? "ada" : "ben",
    action: "order.paid",
    target: `order/${index}`,
    at: new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString(),
    details: { amount: index * 100, tags: ["eu", null] },
  };
}

test("what was sent is what is found, and fits the schema", async (t) => {
  const { call } = await serve(t);
  const sent = await post(call, sample(1));
  const { body } = await call("/events?target=order/1");
  assert.deepEqual(body.events, [sent.body]);
  assert.deepEqual(parse(storedEvent, body.events[0]), sent.body);
});

test("many at once: none is lost, none has the number of another", async (t) => {
  const { call } = await serve(t);
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => post(call, sample(index))),
  );
  assert.ok(answers.every(({ status }) => status === 201));
  const { body } = await call("/events");
  assert.deepEqual(
    body.events.map(({ id }) => id),
    Array.from({ length: 40 }, (_, index) => index + 1),
  );
  assert.equal(new Set(body.events.map(({ target }) => target)).size, 40);
});

test("pages do not shift while events come in", async (t) => {
  const { call } = await serve(t);
  for (let index = 0; index < 4; index++) await post(call, sample(index));
  const first = (await call("/events?actor=ada&limit=1")).body;
  await post(call, sample(4));
  const second = (await call(`/events?actor=ada&limit=1&after=${first.next}`)).body;
  const third = (await call(`/events?actor=ada&limit=1&after=${second.next}`)).body;
  const ids = [first, second, third].flatMap(({ events }) => events.map(({ id }) => id));
  assert.deepEqual(ids, [1, 3, 5]);
  assert.equal(third.next, null);
});

test("a refused event leaves no trace", async (t) => {
  const { call } = await serve(t);
  await post(call, { ...sample(1), at: "never" });
  assert.deepEqual((await call("/events")).body, { events: [], next: null });
  assert.equal((await call("/health")).body.events, 0);
});

test("there is no way to change or remove an event", async (t) => {
  const { call } = await serve(t);
  await post(call, sample(1));
  for (const method of ["PUT", "PATCH", "DELETE"]) {
    assert.equal((await call("/events", { method })).status, 405);
  }
  assert.equal((await call("/events")).body.events.length, 1);
});
