import { describe, expect, test } from "vitest";
import { portNumber } from "./flags.ts";

describe("--port", () => {
  test.each([
    ["0", 0],
    ["7070", 7070],
    ["65535", 65_535],
  ])("takes %s", (text, number) => {
    expect(portNumber(text)).toBe(number);
  });

  test.each(["65536", "70000", "-1", "abc", "", "1e3", "80.5"])("refuses %j with a sentence and an example", (text) => {
    expect(() => portNumber(text)).toThrow(
      expect.objectContaining({ code: "BAD_INPUT", hint: expect.stringContaining("--port 7070") }),
    );
  });
});
