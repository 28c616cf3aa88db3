import { describe, expect, test } from "vitest";
import { callTool } from "../../../test/support/call-tool.ts";
import { sleep } from "./sleep.ts";

describe("sleep", () => {
  test("waits, up to its limit", async () => {
    expect(await callTool(sleep, "/", { seconds: 0.02 })).toEqual("Waited 20ms.");
    await expect(callTool(sleep, "/", { seconds: 301 })).rejects.toThrow();
  });

  test("ends when the task is stopped", async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 20);
    await expect(callTool(sleep, "/", { seconds: 100 }, { signal: controller.signal })).rejects.toThrow("interrupted");
  });
});
