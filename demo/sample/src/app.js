import { createServer } from "node:http";
import { HttpError, sendJson } from "./http.js";
import { loadRoutes } from "./routes.js";
import { createStore } from "./store.js";

/**
 * The service, not yet listening.
 * @param {{store?: ReturnType<typeof createStore>}} [options]
 */
export async function createApp({ store = createStore() } = {}) {
  const routes = await loadRoutes();

  async function respond(request, response) {
    const url = new URL(request.url, "http://localhost");
    const at = routes.filter(({ path }) => path === url.pathname);
    if (at.length === 0) throw new HttpError(404, "not_found", `nothing at ${url.pathname}`);
    const route = at.find(({ method }) => method === request.method);
    if (!route) {
      const allow = at.map(({ method }) => method).join(", ");
      throw new HttpError(405, "method_not_allowed", `${url.pathname} takes ${allow}`, {
        headers: { allow },
      });
    }
    const { status = 200, headers, body } = await route.handle({ request, url, store });
    sendJson(response, status, body, headers);
  }

  return createServer((request, response) => {
    respond(request, response).catch((error) => {
      const known = error instanceof HttpError;
      const { status, code, message, details, headers } = known
        ? error
        : new HttpError(500, "internal", "internal error");
      sendJson(response, status, { error: { code, message, details } }, headers);
    });
  });
}
