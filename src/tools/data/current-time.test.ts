import { expect, test } from "vitest";
import { callTool } from "../../../test/support/call-tool.ts";
import { currentTime, currentTimeBy } from "./current-time.ts";

const clock = currentTimeBy(() => 1_000_000_000_000);

test("current_time gives the time in UTC", async () => {
  expect(await callTool(clock, "/", {})).toEqual("2001-09-09T01:46:40.000Z");
  const before = Date.now();
  const told = Date.parse(await callTool(currentTime, "/", {}));
  expect(told).toBeGreaterThanOrEqual(before);
  expect(told).toBeLessThanOrEqual(Date.now());
});

test("current_time gives the time in a time zone", async () => {
  expect(await callTool(clock, "/", { timeZone: "Asia/Tokyo" })).toContain("10:46:40");
  await expect(callTool(clock, "/", { timeZone: "Mars/Base" })).rejects.toThrow('"Mars/Base" is not a known time zone');
});
