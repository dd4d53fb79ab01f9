import { test } from "vitest";

/** A test that runs by night only; its file is named in `vitest.nightly.config.ts`, and what shows
 * the same by day beside it. */
export const byNight = test.skipIf(!process.env.MINION_NIGHTLY);
