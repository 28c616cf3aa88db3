import { expect, test } from "vitest";
import { growth } from "../../../test/support/growth.ts";
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

test.each([".shell rm a", "1,2!rm a", "select 1;\n.system rm a"])(
  "the command after the sign for a shell command in %j is found",
  (code) => expect(commandsIn(code)).toEqual(["rm a"]),
);

test("code with many unclosed brackets is read once, not once per bracket", () => {
  const read = (brackets: number) => () => commandsIn("%(".repeat(brackets));
  expect(read(2_000)()).toEqual([]);
  expect(growth({ small: read(2_000), large: read(60_000), pieces: 30 })).toBeLessThan(3);
});
