import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { growth } from "../../../test/support/growth.ts";
import { reveal, sanitize, showsNothing } from "./sanitize.ts";

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
