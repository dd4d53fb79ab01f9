import { z } from "zod";
import { HttpError } from "./http.js";

/** What a client sends: who did what to what, and when. Unknown fields are refused, since nobody would ever see them. */
export const newEvent = z.strictObject({
  actor: z.string().trim().min(1).max(200),
  /** A subject and what happened to it, in lower case: `user.created`, `invoice.line.removed`. */
  action: z
    .string()
    .max(100)
    .regex(/^[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)+$/, "expected something like user.created"),
  target: z.string().trim().min(1).max(200),
  /** When it happened, with a zone; kept in UTC, so that times compare as text. */
  at: z.iso.datetime({ offset: true }).transform((at) => new Date(at).toISOString()),
  details: z.record(z.string().max(100), z.json()).default({}),
});

/** What the log holds and a client gets. */
export const storedEvent = newEvent.extend({
  id: z.int().positive(),
  recordedAt: z.iso.datetime(),
});

/**
 * Checks a value against a schema.
 * @returns the value as the schema leaves it
 * @throws {HttpError} 422 with each field that is wrong
 */
export function parse(schema, value) {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const details = error.issues.map(({ path, message }) => ({ field: path.join("."), message }));
  throw new HttpError(422, "invalid", "the value does not fit the schema", { details });
}
