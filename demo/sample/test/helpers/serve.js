import { once } from "node:events";
import { createApp } from "../../src/app.js";
import { createStore } from "../../src/store.js";

/**
 * Starts the service on a free port until the test ends.
 * @param {import("node:test").TestContext} t
 */
export async function serve(t, { store = createStore() } = {}) {
  const app = await createApp({ store });
  app.listen(0, "127.0.0.1");
  await once(app, "listening");
  t.after(() => app.close());
  const base = `http://127.0.0.1:${app.address().port}`;
  return {
    store,
    /** Asks the service and reads the answer as JSON. */
    async call(path, { json, ...init } = {}) {
      const body = json === undefined ? init.body : JSON.stringify(json);
      const response = await fetch(base + path, { ...init, body });
      return { status: response.status, headers: response.headers, body: await response.json() };
    },
  };
}
