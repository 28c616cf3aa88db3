import { expect, test } from "vitest";
import { mixedWord } from "./name-characters.ts";

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
