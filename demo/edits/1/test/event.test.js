import assert from "node:assert/strict";
import { test } from "node:test";
import { newEvent, parse, storedEvent } from "../src/event.js";

const event = {
  actor: "ada",
  action: "user.created",
  target: "user/7",
  at: "2026-01-02T03:04:05Z",
};

test("a whole event passes, details are empty where there are none", () => {
  assert.deepEqual(parse(newEvent, event), {
    ...event,
    at: "2026-01-02T03:04:05.000Z",
    details: {},
  });
});

test("a time in another zone is kept in UTC", () => {
  assert.equal(
    parse(newEvent, { ...event, at: "2026-01-02T05:04:05+02:00" }).at,
    "2026-01-02T03:04:05.000Z",
  );
});

const wrong = [
  ["actor", ""],
  ["actor", "x".repeat(201)],
  ["action", "created"],
  ["action", "User.Created"],
  ["action", "user..created"],
  ["target", "   "],
  ["at", "yesterday"],
  ["at", "2026-01-02T03:04:05"],
  ["details", { when: undefined }],
  ["details", "text"],
];
for (const [field, value] of wrong) {
  test(`${field} cannot be ${JSON.stringify(value).slice(0, 30)}`, () => {
    assert.throws(
      () => parse(newEvent, { ...event, [field]: value }),
      ({ status, details }) =>
        status === 422 && details.some((detail) => detail.field.startsWith(field)),
    );
  });
}

test("each missing field is named, an unknown one is refused", () => {
  assert.throws(
    () => parse(newEvent, {}),
    ({ details }) => details.map(({ field }) => field).join() === "actor,action,target,at",
  );
  assert.throws(() => parse(newEvent, { ...event, id: 1 }), { status: 422 });
});

test("a stored event has its number and the time at which it was recorded", () => {
  const stored = { ...event, details: {}, id: 1, recordedAt: "2026-01-02T03:04:06.000Z" };
  assert.equal(parse(storedEvent, stored).id, 1);
  assert.throws(() => parse(storedEvent, { ...stored, id: 0 }), { status: 422 });
});
