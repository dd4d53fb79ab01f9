const BODY_LIMIT = 64 * 1024;

/** An answer other than the one asked for. `code` is for programs, `message` for people. */
export class HttpError extends Error {
  constructor(status, code, message, { details, headers } = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.headers = headers;
  }
}

/** Sends a value as JSON. */
export function sendJson(response, status, body, headers = {}) {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8", ...headers });
  response.end(JSON.stringify(body));
}

/** Reads a request's body as JSON, up to 64 KiB. */
export async function readJson(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > BODY_LIMIT)
      throw new HttpError(413, "too_large", `a body has at most ${BODY_LIMIT} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw new HttpError(400, "not_json", "the body is not JSON");
  }
}
