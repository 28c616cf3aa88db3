import { describe, expect, test } from "vitest";
import { count, dollars, portNumber, runOptions, spanOf } from "./flags.ts";

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

test("a count must be a whole number of at least 1, and a duration must be longer than zero", () => {
  const [number, span] = [count("--many"), spanOf("--wait", "5m")];
  expect([number("1"), number(" 4 "), span("1ms"), span("2s")]).toEqual([1, 4, 1, 2_000]);
  for (const bad of [() => number("0"), () => number("1.5"), () => span("0s"), () => span("x")])
    expect(bad).toThrow(expect.objectContaining({ code: "BAD_INPUT" }));
});

test("a count that is too large is refused with the largest one", () => {
  expect(count("--many")("999999999")).toBe(999_999_999);
  for (const text of ["1000000000", "2147483648", "9007199254740992"])
    expect(() => count("--many")(text)).toThrow(
      expect.objectContaining({ code: "BAD_INPUT", hint: "Give a whole number up to 999999999, as in --many 4." }),
    );
});

test.each([
  ["--max-time", "300", "300s or --max-time 300m"],
  ["--max-run-time", "1.5", "1.5s or --max-run-time 1.5h"],
  ["--answer-timeout", " 5 ", "5s or --answer-timeout 5m"],
  ["--max-memory", "512", "512MB or --max-memory 512GB"],
  ["--retry", "3x500", "3x500ms or --retry 3x500s"],
])("%s %j is refused, because it has no unit", (flag, text, readings) => {
  const option = runOptions().find(({ long }) => long === flag);
  expect(() => option?.parseArg?.(text, undefined)).toThrow(
    expect.objectContaining({ code: "BAD_INPUT", hint: `Write ${flag} ${readings}.` }),
  );
});

test("--max-memory takes a size", () => {
  const option = runOptions().find(({ long }) => long === "--max-memory");
  expect(["512MB", "1.5 GB", "900kb"].map((text) => option?.parseArg?.(text, undefined))).toEqual([512, 1_500, 0.9]);
  for (const text of ["0MB", "12XB", "MB", "", "9999999TB"])
    expect(() => option?.parseArg?.(text, undefined)).toThrow(expect.objectContaining({ code: "BAD_INPUT" }));
});

describe("--max-usd", () => {
  test.each([
    ["5", 5],
    ["$0.50", 0.5],
    [" .25 ", 0.25],
  ])("takes %j", (text, amount) => {
    expect(dollars(text)).toBe(amount);
  });

  test.each([
    "0x10",
    "0b1",
    "0o7",
    "1e2",
    "1_000",
    "+1",
    "1.",
    "-1",
    "0",
    "",
    " ",
    "NaN",
    "Infinity",
    "\u0663",
    "1,5",
    "9".repeat(400),
  ])("refuses %j with a sentence and an example", (text) => {
    expect(() => dollars(text)).toThrow(
      expect.objectContaining({ code: "BAD_INPUT", hint: "Give an amount in dollars, as in --max-usd 0.50." }),
    );
  });
});

test("every command that runs something has the flags of each group", () => {
  const flags = ["model", "output-schema", "context", "concurrency", "allow", "max-usd", "record", "replay", "output"];
  expect(runOptions().map((option) => option.long)).toEqual(expect.arrayContaining(flags.map((name) => `--${name}`)));
});
