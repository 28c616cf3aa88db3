import { expect, test } from "vitest";
import { mentionOf, mentionsIn, openMention, pastedPath } from "./mention.ts";

test("a mention (`@file`) is found only at the beginning of a word, and its name may be in quotes", () => {
  expect(mentionsIn('look at @a.png, @"my picture.png" and (@b/ü.jpg) not me@home.png')).toEqual([
    "a.png,",
    "my picture.png",
    "b/ü.jpg)",
  ]);
  expect(mentionsIn("@first\n@second")).toEqual(["first", "second"]);
});

test("a mention (`@file`) of a name with blanks is quoted, so that it is parsed back", () => {
  for (const name of ["a.png", "my picture.png", "日本 語.png", "tab\there.png"])
    expect(mentionsIn(`see ${mentionOf(name)} please`)).toEqual([name]);
});

test('a quoted mention (`@"file"`) is incomplete until its second quote', () => {
  expect(openMention('see @"my pic')).toBe(4);
  expect(openMention('see @"my pic" ')).toBe(-1);
  expect(openMention("see @my pic")).toBe(-1);
});

test.each([
  ["/tmp/a.png\n", "/tmp/a.png"],
  ["'/tmp/my pic.png'", "/tmp/my pic.png"],
  ['"/tmp/my pic.png"', "/tmp/my pic.png"],
  ["/tmp/my\\ pic\\(1\\).png ", "/tmp/my pic(1).png"],
  ["file:///tmp/my%20pic.png", "/tmp/my pic.png"],
  ["~/a.png", "~/a.png"],
  ["./a.png", "./a.png"],
  ["C:\\pictures\\a.png", "C:\\pictures\\a.png"],
  ["just words", undefined],
  ["/a.png\n/b.png", undefined],
  ["file:///%zz.png", undefined],
])("the pasted text %j is the path %j", (text, path) => expect(pastedPath(text)).toBe(path));
