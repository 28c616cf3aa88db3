import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { growth } from "../../../test/support/growth.ts";
import { cutSummary, cutHead, cutTail, INLINE_CHARS, keepEnds, MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES } from "./cut.ts";

const bytesOf = (text: string): number => Buffer.byteLength(text);

describe("cutTail", () => {
  test("does not change a text that fits exactly", () => {
    const lines = Array.from({ length: MAX_OUTPUT_LINES }, (_, i) => `${i}`).join("\n");
    expect(cutTail(lines)).toEqual({ text: lines, cut: false });
    expect(cutTail(`${lines}\n`)).toEqual({ text: `${lines}\n`, cut: false });
    expect(cutTail("x".repeat(MAX_OUTPUT_BYTES)).cut).toBe(false);
    expect(cutTail("")).toEqual({ text: "", cut: false });
  });

  test("keeps the last lines", () => {
    expect(cutTail("a\nb\nc", { lines: 2 })).toEqual({ text: "b\nc", cut: true });
    expect(cutTail("a\nb\nc\n", { lines: 2 })).toEqual({ text: "b\nc\n", cut: true });
    expect(cutTail("a\n\n\n", { lines: 1 })).toEqual({ text: "\n", cut: true });
  });

  test("keeps exactly the allowed number of bytes when no character is split", () => {
    const { text, cut } = cutTail(`a${"x".repeat(MAX_OUTPUT_BYTES)}`);
    expect([bytesOf(text), cut]).toEqual([MAX_OUTPUT_BYTES, true]);
  });

  test.each([
    ["two bytes", "é", 2],
    ["three bytes", "漢", 3],
    ["four bytes", "😀", 4],
  ])("never splits a character of %s", (_, letter, width) => {
    const text = letter.repeat(10);
    for (let bytes = 0; bytes <= width * 10; bytes++) {
      const whole = Math.floor(bytes / width);
      expect(cutTail(text, { bytes })).toEqual({ text: letter.repeat(whole), cut: whole < 10 });
    }
  });

  test("keeps nothing when the limit is zero", () => {
    expect(cutTail("a", { bytes: 0 })).toEqual({ text: "", cut: true });
    expect(cutTail("a", { lines: 0 })).toEqual({ text: "", cut: true });
  });

  test("keeps the longest tail within both limits", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "é", "漢", "😀", "\n"), maxLength: 40 });
    fc.assert(
      fc.property(text, fc.nat(60), fc.integer({ min: 1, max: 8 }), (whole, bytes, lines) => {
        const kept = cutTail(whole, { bytes, lines });
        const fits = (end: string): boolean =>
          bytesOf(end) <= bytes && end.replace(/\n$/, "").split("\n").length <= lines;
        const points = Array.from(whole);
        const longest = points.map((_, i) => points.slice(i).join("")).find(fits) ?? "";
        expect(kept).toEqual({ text: longest, cut: longest !== whole });
      }),
    );
  });

  test("the time for 100 MB depends only on the part that is kept", () => {
    const [large, huge] = [100_000, 8_000_000].map((lines) => Buffer.alloc(13 * lines, "line of text\n").toString());
    expect(cutTail(huge!).cut).toBe(true);
    const cost = growth({ small: () => cutTail(large!), large: () => cutTail(huge!), pieces: 1 });
    expect(cost).toBeLessThan(15); // the ratio would be 80 if the whole text were read
  });
});

describe("cutHead", () => {
  test("keeps the beginning", () => {
    expect(cutHead("abc", 2)).toEqual({ text: "ab", cut: true });
    expect(cutHead("abc", 3)).toEqual({ text: "abc", cut: false });
    expect(cutHead("x".repeat(INLINE_CHARS + 1))).toEqual({ text: "x".repeat(INLINE_CHARS), cut: true });
  });

  test("drops a surrogate pair that would be split", () => {
    expect(cutHead("a😀b", 2)).toEqual({ text: "a", cut: true });
    expect(cutHead("a😀b", 3)).toEqual({ text: "a😀", cut: true });
  });

  test("keeps nothing when the allowed length is below one", () => {
    expect(cutHead("a", 0)).toEqual({ text: "", cut: true });
    expect(cutHead("a", -5)).toEqual({ text: "", cut: true });
  });
});

describe("a summary that is cut at a natural end", () => {
  test.each<[what: string, text: string, chars: number, kept: string]>([
    ["ends after a paragraph", "One two three.\n\nFour five six seven.", 22, "One two three."],
    ["ends after a line", "- one\n- two\n- three and more", 14, "- one\n- two"],
    ["ends after a sentence", "It is here. It is there. And so on for long.", 30, "It is here. It is there."],
    ["ends after a sentence exactly at the limit", "It is here. And there.", 11, "It is here."],
    ["ends after a word", "alpha beta gamma delta", 13, "alpha beta"],
    ["is cut at the character where no word ends late enough", "ab abcdefghijklmnop", 12, "ab abcdefghi"],
    ["closes a block of code", "```js\nconst a = 1;\nconst b = 2;\n```\nDone.", 24, "```js\nconst a = 1;\n```"],
  ])("%s", (_what, text, chars, kept) => {
    expect(cutSummary(text, chars, "smart")).toEqual({ text: kept, cut: true });
  });

  test("a short text stays whole, and the simple way of cutting counts characters", () => {
    expect(cutSummary("Short.", 10, "smart")).toEqual({ text: "Short.", cut: false });
    expect(cutSummary("One two. Three", 10)).toEqual({ text: "One two. T", cut: true });
  });
});

describe("keepEnds", () => {
  test("keeps whole lines of the beginning and the end", () => {
    const lines = Array.from({ length: 100 }, (_, at) => `line ${at}`);
    const { head, tail, omitted } = keepEnds(`${lines.join("\n")}\n`, 120);
    expect(head.split("\n")).toEqual(lines.slice(0, head.split("\n").length));
    expect(tail).toMatch(/^line \d+\n(?:line \d+\n)*line 99\n$/);
    expect(head.length + tail.length + omitted).toBe(lines.join("\n").length + 1);
  });

  test("never exceeds the limit and never splits a character", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "\n", "😀", "é") }),
        fc.integer({ min: 0, max: 40 }),
        (text, most) => {
          const { head, tail, omitted } = keepEnds(text, most);
          expect(head.length + tail.length).toBeLessThanOrEqual(most);
          expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
          expect(head.length + tail.length + omitted).toBe(text.length);
          expect(
            !/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(`${head} ${tail}`),
          ).toBe(true);
        },
      ),
    );
  });
});
