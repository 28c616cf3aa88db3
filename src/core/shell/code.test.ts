import { expect, test } from "vitest";
import { commandsInCode } from "./code.ts";

const commandsIn = (code: string): string[] =>
  commandsInCode("perl", [{ text: code }]).map(({ words }) => words.map(({ text }) => text).join(" "));

test.each([
  ["at the beginning of the code", '"rm a"', ["rm a"]],
  ["in brackets at the beginning of the code", "q(rm a)", ["rm a"]],
  ["in double brackets", "local it = os; it.execute([[rm a]])", ["rm a"]],
  ["in double brackets with a sign between them", "os.execute([=[rm a]=])", ["rm a"]],
  ["after an empty text", '"" . "rm a"', ["rm a"]],
  ["with quotes inside, which are part of it", `"echo 'rm a'"`, ["echo rm a"]],
  ["with escaped quotes inside", String.raw`"say \"x\"; rm a"`, ["say x", "rm a"]],
  ["without an end, which is no text", "it's rm a", []],
])("the commands in a quoted text in code are found: one %s", (_which, code, expected) => {
  expect(commandsIn(code)).toEqual(expected);
});

test("code with many unclosed brackets is read once, not once per bracket", () => {
  expect(commandsIn("%(".repeat(100_000))).toEqual([]);
});
