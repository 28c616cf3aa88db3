import { expect, test } from "vitest";
import { failed, type Outcome, outputText } from "./outcome.ts";

test.each<[Outcome, string]>([
  [{ status: "cancelled", reason: "cancelled" }, "cancelled"],
  [{ status: "cancelled", reason: "cancelled by the inbox" }, "cancelled by the inbox"],
  [{ status: "cancelled", reason: "not needed" }, "cancelled: not needed"],
  [{ status: "skipped", because: "build" }, "skipped because build did not succeed"],
  [failed("CRASHED", "It broke.", { hint: "Try again." }), "failed: It broke.\nTry again."],
])("the text about the outcome %j states once how the task ended", (outcome, text) => {
  expect(outputText(outcome)).toBe(text);
});
