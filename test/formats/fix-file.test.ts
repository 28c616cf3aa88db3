import { expect, test } from "vitest";
import { dialects } from "../../src/formats/table.ts";
import { fixedText } from "../../src/formats/fix-file.ts";

const fix = (keys: string, dialect = "claude", body = "Work: as told.\n"): string | undefined => {
  const text = `---\n${keys}\n---\n${body}`;
  return fixedText(text, dialects[dialect]!, { file: "/w/a.md", relative: "a.md" });
};

test.each<[what: string, before: string, after: string]>([
  [
    "a value with a colon is quoted, and comments stay",
    "# mine\nname: a\ndescription: Use it so: water # not part of it\n# the tools\ntools: Read",
    "# mine\nname: a\ndescription: 'Use it so: water # not part of it'\n# the tools\ntools: Read",
  ],
  ["a star is quoted", "name: a\ndescription: d\ntools: *", "name: a\ndescription: d\ntools: '*'"],
  [
    "a list at the margin is indented",
    "name: a\ndescription: d\ntools: [\n'Read',\n]",
    "name: a\ndescription: d\ntools: [\n  'Read',\n  ]",
  ],
  [
    "a key gets the name under which it was read",
    "name: a\ndescription: d\nallowed-tools: Read # only this",
    "name: a\ndescription: d\ntools: Read # only this",
  ],
  ["a misspelled key is corrected", "name: a\ndescription: d\nmodle: haiku", "name: a\ndescription: d\nmodel: haiku"],
])("correcting an agent file: %s", (_what, before, after) => {
  expect(fix(before)).toBe(`---\n${after}\n---\nWork: as told.\n`);
});

test("correcting an agent file keeps line ends, and gives a deprecated key its new name", () => {
  const text = "---\r\ndescription: d\r\nmaxSteps: 3\r\n---\r\nWork.\r\n";
  expect(fixedText(text, dialects["opencode"]!, { file: "/w/a.md", relative: "a.md" })).toBe(
    text.replace("maxSteps", "steps"),
  );
});

test.each([
  ["nothing is wrong", "name: a\ndescription: d"],
  ["the intended value is unknown", "name: a\ndescription: d\nmetadata:\n  - a\n  b: ["],
  ["the better name is already in use", "name: a\ndescription: d\ntools: Read\nallowedTools: Grep"],
])("an agent file is not corrected when %s", (_why, keys) => {
  expect(fix(keys)).toBe(undefined);
});
