import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { growth } from "../../../test/support/growth.ts";
import { reveal, sanitize, showsNothing, spellInvisible, withoutInvisible } from "./sanitize.ts";

const ESC = "\u001b";
const BEL = "\u0007";
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

describe("sanitize", () => {
  test.each([
    ["colours", `${ESC}[31mred${ESC}[0m`, "red"],
    ["cursor moves and erasing", `a${ESC}[2J${ESC}[1;1Hb`, "ab"],
    ["an eight-bit control sequence", "a\u009b31mb", "ab"],
    ["a title closed by a bell", `a${ESC}]0;title${BEL}b`, "ab"],
    ["a hyperlink closed by a string terminator", `${ESC}]8;;http://x${ESC}\\text${ESC}]8;;${ESC}\\`, "text"],
    ["an eight-bit clipboard write", "a\u009d52;c;aGk=\u009cb", "ab"],
    ["a device control string", `a${ESC}Pq#0;2;0${ESC}\\b`, "ab"],
    ["a privacy message and an application command", `a${ESC}^x${ESC}\\b${ESC}_y${ESC}\\c`, "abc"],
    ["a charset switch and a reset", `a${ESC}(Bb${ESC}cc`, "abc"],
    ["backspace, carriage return, bell and NUL", `a\b\r${BEL}\u0000b`, "ab"],
    ["characters that change the reading direction", "a\u202ecod\u202c\u2066b\u2069\u200fc", "acodbc"],
    ["a lone escape at the end", `a${ESC}`, "a"],
    ["a control sequence without an end", `a${ESC}[31`, "a"],
  ])("removes %s", (_, dirty, clean) => {
    expect(sanitize(dirty)).toBe(clean);
  });

  test("an unterminated title sequence removes only its own line", () => {
    expect(sanitize(`a${ESC}]0;never closed\nnext line`)).toBe("a\nnext line");
    expect(sanitize(`a${ESC}]0;never closed`)).toBe("a");
  });

  test("removing a sequence does not create a new one from its surroundings", () => {
    expect(sanitize(`${ESC}${ESC}[0m[31mx`)).toBe("[31mx");
    expect(sanitize(`${ESC}]0;a${ESC}[31mb`)).toBe("b");
  });

  test("newlines, tabs, letters of all scripts and emoji stay", () => {
    const text = "größe\t漢字\n👩‍💻 עברית";
    expect(sanitize(text)).toBe(text);
  });

  test("for any text the result has no control character, and a second pass changes nothing", () => {
    const pieces = fc.array(
      fc.constantFrom(
        ESC,
        "[",
        "]",
        "P",
        "\\",
        BEL,
        "\u009b",
        "\u009c",
        "\u009d",
        ";",
        "3",
        "m",
        "\n",
        "\r",
        "\u202e",
        "é",
        "𝒳",
      ),
      {
        maxLength: 40,
      },
    );
    fc.assert(
      fc.property(pieces, (parts) => {
        const clean = sanitize(parts.join(""));
        expect(clean).not.toMatch(UNSAFE);
        expect(sanitize(clean)).toBe(clean);
      }),
    );
  });

  test.each([
    ["introducers", (count: number) => `${ESC}]`.repeat(5 * count)],
    ["unclosed control sequences", (count: number) => `${ESC}[1;2;3`.repeat(count)],
    ["one endless parameter list", (count: number) => `${ESC}[${"1;".repeat(5 * count)}`],
  ])("many repetitions of %s take linear time", (_, hostile) => {
    const [little, much] = [hostile(100), hostile(5_000)];
    const cost = growth({ small: () => sanitize(little), large: () => sanitize(much), pieces: 50 });
    expect(cost).toBeLessThan(12);
  });
});

describe("withoutInvisible", () => {
  test.each([
    [
      "characters without width",
      "pa\u200bss\u2060wo\ufeffrd\u00ad",
      "password",
      "pa<U+200B>ss<U+2060>wo<U+FEFF>rd<U+00AD>",
    ],
    ["direction controls", "a\u202eb\u2069c\u200f", "abc", "a<U+202E>b<U+2069>c<U+200F>"],
    ["joiners between letters that do not join", "a\u200db\u200cc", "abc", "a<U+200D>b<U+200C>c"],
    ["several joiners in a row", "\u0645\u200c\u200d\u062e", "\u0645\u062e", "\u0645<U+200C><U+200D>\u062e"],
    ["tag characters", "a\u{e0069}\u{e007f}b", "ab", "a<U+E0069><U+E007F>b"],
    ["other tags behind a flag", "\u{1f3f4}\u{e0069}\u{e007f}b", "\u{1f3f4}b", "\u{1f3f4}<U+E0069><U+E007F>b"],
    ["variation selectors after letters", "a\ufe0fb\u{e0101}1\ufe0f", "ab1", "a<U+FE0F>b<U+E0101>1<U+FE0F>"],
    ["a joiner whose emoji is a letter", "x\ufe0f\u200d\u{1f469}", "x\u{1f469}", "x<U+FE0F><U+200D>\u{1f469}"],
    ["fillers", "a\u3164b\uffa0c", "abc", "a<U+3164>b<U+FFA0>c"],
    ["line separators", "a\u2028b\u2029c", "a b c", "a<U+2028>b<U+2029>c"],
  ])("removes %s, and spellInvisible writes them out", (_, dirty, clean, spelled) => {
    expect(withoutInvisible(dirty)).toBe(clean);
    expect(spellInvisible(dirty)).toBe(spelled);
  });

  test("at most eight marks stay on a letter, also with joiners between them", () => {
    expect(withoutInvisible(`e${"\u0301".repeat(500)}x`)).toBe(`e${"\u0301".repeat(8)}x`);
    expect(withoutInvisible(`\u0915${"\u094d\u200d".repeat(50)}\u0937`).length).toBeLessThan(12);
    const stressed = `e${"\u0301".repeat(8)}`;
    expect(withoutInvisible(stressed)).toBe(stressed);
  });

  test.each([
    ["terminal sequences, lines and signs", `${ESC}[31m✓ größe\t漢字\r\n│${ESC}[0m`],
    ["families and professions", "👨‍👩‍👧‍👦 👩🏽‍💻 ❤️‍🔥 🏳️‍🌈 🏴‍☠️"],
    ["keycaps, flags and emoji with a variation selector", "1\ufe0f\u20e3 🇩🇪 ☀\ufe0f ☀\ufe0e"],
    ["the flag of Scotland", "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}"],
    ["Persian with a non-joiner", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"],
    ["Hindi, Bengali and Sinhala with a joiner", "क्‍ष র‍্য ක්‍ර"],
    ["Hebrew, Arabic, Thai and Vietnamese with marks", "שָׁלוֹם العَرَبِيَّة ที่นี่ tiếng Việt"],
  ])("keeps %s", (_, text) => {
    expect(withoutInvisible(text)).toBe(text);
    expect(spellInvisible(text)).toBe(text);
  });

  test("for any text a second pass changes nothing, and no character without width is left alone", () => {
    const pieces = fc.constantFrom(
      ..."\u200b\u200c\u200d\ufe0f\u{e0067}\u{e007f}\u{1f3f4}👩☀1a\u0645\u0915\u094d\u0301\u20e3\u2028\u202e".match(
        /./gsu,
      )!,
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
        const clean = withoutInvisible(parts.join(""));
        expect(clean).not.toMatch(/[\u200b\u2028\u202e]|(?:^|[a1])[\u200c\u200d]|^[\ufe0f\u{e0067}]/u);
        expect(withoutInvisible(clean)).toBe(clean);
      }),
    );
  });

  test.each([
    ["joiners", "\u200d"],
    ["marks", "\u0301"],
    ["flags without an end", "\u{1f3f4}\u{e0067}\u{e0062}"],
  ])("many %s take linear time", (_, hostile) => {
    const [little, much] = [hostile.repeat(1_000), hostile.repeat(50_000)];
    expect(
      growth({ small: () => withoutInvisible(little), large: () => withoutInvisible(much), pieces: 50 }),
    ).toBeLessThan(12);
  });
});

describe("reveal", () => {
  test("shows characters that a terminal would hide", () => {
    expect(reveal(`rm${ESC}[8m -rf\u007f\u0000\u202e x`)).toBe("rm␛[8m -rf␡␀\ufffd x");
  });

  test("keeps newlines and tabs", () => {
    expect(reveal("a\n\tb")).toBe("a\n\tb");
  });
});

test.each(["", " \n\t", "\u200b\u2060\ufeff", "\u00ad\u3164\u2800", "\x1b[31m \x1b[0m", "\u202e "])(
  "the text %j is invisible to a reader",
  (text) => expect(showsNothing(text)).toBe(true),
);

test.each([".", "0", "null", "ะ", "👩‍👩‍👧", "\u0301", " \u200bx"])("the text %j is visible to a reader", (text) =>
  expect(showsNothing(text)).toBe(false),
);
