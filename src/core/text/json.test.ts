import { expect, test } from "vitest";
import { addCount, ownEntry } from "./json.ts";

const INHERITED = ["constructor", "__proto__", "toString", "__defineGetter__", "valueOf"];

test("ownEntry finds no inherited property", () => {
  const table = { read: 1 };
  expect(INHERITED.filter((name) => ownEntry<unknown>(table, name) !== undefined)).toEqual([]);
  expect(ownEntry(table, "read")).toBe(1);
});

test("addCount counts a name such as `constructor` like any other name", () => {
  const counts: Record<string, number> = {};
  for (const name of [...INHERITED, "constructor", "read"]) addCount(counts, name);
  expect(Object.entries(counts)).toEqual([
    ["constructor", 2],
    ["__proto__", 1],
    ["toString", 1],
    ["__defineGetter__", 1],
    ["valueOf", 1],
    ["read", 1],
  ]);
  expect(JSON.parse(JSON.stringify({ ...counts }))).toEqual({ ...counts });
});
