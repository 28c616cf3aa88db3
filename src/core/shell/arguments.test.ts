import { expect, test } from "vitest";
import { commandsInArguments } from "./arguments.ts";

test.each([
  ["a text with blanks", "rm a", 1],
  ["a value in quotes, once", "--x='rm a'", 1],
  ["a value behind four names", "--a=b=c=d=rm a", 1],
  ["but no value behind five names", "--a=b=c=d=e=rm a", 0],
])("an argument may contain commands: %s", (_what, text, times) => {
  const found = commandsInArguments("unheard-of", [{ text }]).map(({ words }) =>
    words.map((word) => word.text).join(" "),
  );
  expect(found.filter((line) => line === "rm a")).toHaveLength(times);
});
