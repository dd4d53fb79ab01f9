import { test } from "vitest";

/** A test that runs by night only; its file is named in `vitest.nightly.config.ts`, and what shows
 * the same by day beside it. */
export const byNight = test.skipIf(!process.env.MINION_NIGHTLY);

/** The cases of a test: those of the day and, by night, the others that show the same once more. */
export const casesOf = <T>(day: readonly T[], others: readonly T[]): T[] =>
  process.env.MINION_NIGHTLY ? [...day, ...others] : [...day];

/** How many of so many random cases: a fifth by day. */
export const someOf = (cases: number): number => (process.env.MINION_NIGHTLY ? cases : cases / 5);
