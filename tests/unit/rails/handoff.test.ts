import { expect, test } from "vitest";
import { missingSlots } from "../../../rails/journal/handoff.ts";
import { handoff } from "../../handoff.ts";
import { SHIPPED } from "./run.ts";

const SLOTS = ["What and why", "Concerns", "Risks"];

test.each([
  ["plain", "What and why: a\nConcerns: none\nRisks: b", ""],
  ["marked", "## What and why:\na\n\n- **Concerns:** none\n* __Risks__: b", ""],
  ["on the next line, in any case and order", "RISKS:\n  b\nconcerns: -\nwhat and why:\n\na", ""],
  ["nothing in one", "What and why: a\nConcerns:\nRisks: b", "Concerns"],
  ["left out", "What and why: a", "Concerns, Risks"],
  ["free text", "Did it, no concerns: none", "What and why, Concerns, Risks"],
])("%s", (_, text, missing) => {
  expect(missingSlots(text, SLOTS).join(", ")).toBe(missing);
});

test("the form that the steps show is the one that is asked for", () => {
  const [, form = ""] = /<<'HANDOFF'\n([\s\S]*?)HANDOFF/.exec(SHIPPED.body) ?? [];
  expect(
    form
      .trim()
      .split("\n")
      .map((line) => line.replace(/:$/, "")),
  ).toEqual(SHIPPED.slots);
  expect(missingSlots(handoff("x"), SHIPPED.slots)).toEqual([]);
});
