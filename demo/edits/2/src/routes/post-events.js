import { newEvent, parse } from "../event.js";
import { HttpError, readJson } from "../http.js";

/** Records one event. What is recorded stays as it is: there is no other way to write. */
export default {
  method: "POST",
  path: "/events",
  async handle({ request, store }) {
    const type = request.headers["content-type"] ?? "";
    if (!/^application\/json\s*(;|$)/i.test(type)) {
      throw new HttpError(415, "unsupported_media_type", "send the event as application/json");
    }
    const entry = store.append(parse(newEvent, await readJson(request)));
    return { status: 201, body: entry };
  },
};
