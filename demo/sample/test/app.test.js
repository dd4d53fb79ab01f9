import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "./helpers/serve.js";

test("GET /health says how many events there are", async (t) => {
  const { call, store } = await serve(t);
  store.append({ actor: "ada" });
  const { status, body } = await call("/health");
  assert.equal(status, 200);
  assert.deepEqual(body, { status: "ok", events: 1 });
});

test("an unknown path is 404, an unknown method 405 with what is allowed", async (t) => {
  const { call } = await serve(t);
  assert.equal((await call("/nowhere")).status, 404);
  const { status, headers, body } = await call("/health", { method: "DELETE" });
  assert.equal(status, 405);
  assert.equal(headers.get("allow"), "GET");
  assert.equal(body.error.code, "method_not_allowed");
});
