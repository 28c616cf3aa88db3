import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

const agents = ["explore", "plan", "general", "general-purpose", "Bash"];

test.each([
  ["exlpore", "explore", "two letters swapped"],
  ["explor", "explore", "a letter missing"],
  ["explorre", "explore", "an extra letter"],
  ["exploee", "explore", "a wrong letter"],
  ["bash", "Bash", "another case"],
  ["BAHS", "Bash", "another case and a swap"],
  ["genral-purpos", "general-purpose", "two letters missing"],
  ["lpan", "plan", "a swap at the start"],
])("the nearest name to %s is %s: %s", (word, meant) => {
  expect(nearest(word, agents)).toBe(meant);
});

test.each(["reviewer", "xy", "", "p"])("no name is near enough to %j to be suggested", (word) => {
  expect(nearest(word, agents)).toBeUndefined();
});

test("nearest name: the same word in another case wins over an earlier candidate with a typo", () => {
  expect(nearest("READ", ["reads", "read"])).toBe("read");
});

test("nearest name: the candidate with fewer typos wins; if both have as many, the earlier candidate wins", () => {
  expect(nearest("tools", ["toolzz", "toolz"])).toBe("toolz");
  expect(nearest("tools", ["toolx", "toolz"])).toBe("toolx");
});

test("nearest name: a short word may have only one typo", () => {
  expect(nearest("ab", ["cd", "ac"])).toBe("ac");
  expect(nearest("abc", ["axy"])).toBeUndefined();
  expect(nearest("nope", ["code", "node-like"])).toBeUndefined();
  expect(nearest("cdoe", ["code"])).toBe("code");
});

test("nearest name: two swapped letters count as one typo, even if a row of the distance table exceeds the limit", () => {
  expect(nearest("abcde", ["badce"])).toBe("badce");
});

test("nearest name: very long words are not compared", () => {
  const long = "a".repeat(100_000);
  expect(nearest(long, [`${long}b`, long])).toBeUndefined();
  expect(nearest("read", [long])).toBeUndefined();
});

test("the nearest name is found among 5,000 similar ones", () => {
  const names = Array.from({ length: 5_000 }, (_, i) => `candidate-with-a-rather-long-name-of-its-own-number-${i}`);
  expect(nearest("candidate-with-a-rather-long-name-of-its-own-numbre-4321", names)).toBe(names[4321]);
});
