import { expect, test } from "vitest";
import { hiddenCharacters } from "./hidden-characters.ts";

test.each(["plain text\r\n\twith a tab", "\ufeffa byte order mark", "naïve 日本語 العربية", "👩‍👩‍👧 👨🏽‍💻 ❤️‍🔥", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"])(
  "no hidden character is found in %j",
  (text) => {
    expect(hiddenCharacters(text)).toBeUndefined();
  },
);

test.each([
  ["one\ntwo\u202ethree", 2, "U+202E, column 4"],
  ["a\u200bb\u200bc", 1, "2 hidden characters; the first is U+200B, column 2"],
  ["x \u{e0041}\u{e0042}", 1, "U+E0041, column 3"],
  ["\u001b]0;title\u0007", 1, "U+001B, column 1"],
  ["a\u200db", 1, "U+200D, column 2"],
])("a hidden character in %j is reported with its position", (text, line, message) => {
  expect(hiddenCharacters(text)).toMatchObject({
    code: "hidden-characters",
    line,
    message: expect.stringContaining(message),
  });
});
