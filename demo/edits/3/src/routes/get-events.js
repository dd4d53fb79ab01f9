import { z } from "zod";
import { newEvent, parse } from "../event.js";

const query = z.strictObject({
  actor: newEvent.shape.actor.optional(),
  /** A whole action, or the beginning of one: `user` finds `user.created`. */
  action: z.string().min(1).optional(),
  target: newEvent.shape.target.optional(),
  /** From this time on. */
  from: newEvent.shape.at.optional(),
  /** Before this time. */
  to: newEvent.shape.at.optional(),
  /** Only what was recorded after this event: the last `id` of the page before. */
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});

/** Lists events, oldest first, a page at a time. All filters given must hold. */
export default {
  method: "GET",
  path: "/events",
  handle({ url, store }) {
    const wanted = parse(query, Object.fromEntries(url.searchParams));
    const { actor, action, target, from, to, after, limit } = wanted;
    const found = store.list(
      (event) =>
        event.id > after &&
        (actor === undefined || event.actor === actor) &&
        (action === undefined ||
          event.action === action ||
          event.action.startsWith(`${action}.`)) &&
        (target === undefined || event.target === target) &&
        (from === undefined || event.at >= from) &&
        (to === undefined || event.at < to),
    );
    const events = found.slice(0, limit);
    // Null says that there is no further page, so that a client need not ask for an empty one.
    return { body: { events, next: found.length > limit ? events.at(-1).id : null } };
  },
};
