import fc from "fast-check";
import stringWidth from "string-width";
import { expect, test } from "vitest";
import { fit, lastRow, pad, widthOf, wordRows } from "./fit.ts";

test.each([
  ["short", 10, "short"],
  ["exactly ten", 11, "exactly ten"],
  ["a little too long", 8, "a littl…"],
  ["日本語のテキスト", 7, "日本語…"],
  ["日本語", 6, "日本語"],
  ["👩‍👩‍👧‍👦 family", 4, "👩‍👩‍👧‍👦 …"],
  ["anything", 1, "…"],
  ["anything", 0, ""],
])("the text %j fitted into %i columns is %j", (text, columns, expected) => {
  expect(fit(text, columns, "…")).toBe(expected);
  expect(widthOf(fit(text, columns, "…"))).toBeLessThanOrEqual(Math.max(columns, 0));
});

test("text width: characters of width one are measured correctly, alone and beside each other", () => {
  const characters = Array.from({ length: 0x2900 - 0x20 }, (_, at) => String.fromCharCode(0x20 + at));
  expect(characters.filter((one) => widthOf(one) !== stringWidth(one))).toEqual([]);
  for (const [from, to] of [
    [0xa1, 0xac],
    [0xae, 0x2ff],
    [0x2010, 0x2027],
    [0x2030, 0x205e],
    [0x2190, 0x21ff],
    [0x2500, 0x25fc],
    [0x2800, 0x28ff],
  ] as const) {
    const line = characters.slice(from - 0x20, to + 1 - 0x20).join("");
    expect([widthOf(line), stringWidth(line)]).toEqual([line.length, line.length]);
  }
});

test("padding a text for the terminal counts columns, not characters", () => {
  expect(pad("日本", 6)).toBe("日本  ");
  expect(pad("too long", 3)).toBe("too long");
});

test("when a text is wrapped by words, its last row is the end of the text", () => {
  expect(lastRow("one two three", 20)).toBe("one two three");
  expect(lastRow("one two three four five", 10)).toBe("five");
  expect(lastRow(`${"word ".repeat(1_000)}end`, 12)).toMatch(/end$/);
  expect(wordRows("日本語 テキスト ab", 9)).toEqual(["日本語", "テキスト", "ab"]);
});

test("the last row of a plain text equals the last of its wrapped rows, wherever its blanks are", () => {
  const plain = fc.string({ unit: fc.constantFrom("a", "b", " ", "-"), maxLength: 60 });
  fc.assert(
    fc.property(plain, fc.integer({ min: 1, max: 12 }), (text, columns) => {
      if (text.length > columns) expect(lastRow(text, columns)).toBe(wordRows(text, columns).at(-1));
    }),
  );
});
