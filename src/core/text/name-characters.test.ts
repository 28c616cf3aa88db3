import { expect, test } from "vitest";
import { lookAlikeOf, lookAlikesIn, mixedWord } from "./name-characters.ts";

test.each([
  ["審査員", undefined],
  ["API数据库", undefined],
  ["проверка кода", undefined],
  ["code проверка", undefined],
  ["b\u0430nk", "b\u0430nk"],
  ["my rеview", "rеview"],
])("%s mixes scripts in %s", (name, word) => {
  expect(mixedWord(name)).toBe(word);
});
const known = ["explore", "plan", "code", "general", "reviewer", "lead", "проверка"];

test.each([
  ["соdе", "code"],
  ["соԁе", "code"],
  ["ехрӏоrе", "explore"],
  ["ΡLΑΝ", "plan"],
  ["ｌｅａｄ", "lead"],
  ["general", undefined],
  ["Plan", undefined],
  ["код", undefined],
  ["проверка", undefined],
  ["審査員", undefined],
  ["résumé", undefined],
])("%s looks like %s", (name, like) => {
  expect(lookAlikeOf(name, known)).toBe(like);
});

test("of two look-alikes only the one with foreign letters is reported", () => {
  expect([...lookAlikesIn(new Set(["ace", "асе", "лес"]))]).toEqual([["асе", "ace"]]);
});
