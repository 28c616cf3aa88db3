import { expect, test } from "vitest";
import { lookAlikeOf, lookAlikesIn } from "./look-alikes.ts";

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
