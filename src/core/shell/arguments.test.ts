import { expect, test } from "vitest";
import { commandsInArguments, commandsInInput, mayRun } from "./arguments.ts";

test.each([
  ["a text with blanks", "rm a", 1],
  ["a value in quotes, once", "--x='rm a'", 1],
  ["a value behind four names", "--a=b=c=d=rm a", 1],
  ["but no value behind five names", "--a=b=c=d=e=rm a", 0],
  ["a text in quotes in code", 'run("rm a")', 1],
])("an argument may contain commands: %s", (_what, text, times) => {
  const found = commandsInArguments("unheard-of", [{ text }]).map(({ words }) =>
    words.map((word) => word.text).join(" "),
  );
  expect(found.filter((line) => line === "rm a")).toHaveLength(times);
});

const wordsOf = (line: string) => line.split(" ").map((text) => ({ text }));
const linesOf = (found: ReturnType<typeof commandsInInput>): string[] =>
  found.map(({ words }) => words.map((word) => word.text).join(" "));

test("a comma-separated list after an option that names a program is read as a command", () => {
  expect(linesOf(commandsInArguments("unheard-of", wordsOf("x -wrapper rm,a -o b")))).toContain("rm a");
});

test("input is read as commands only for a program that may run it", () => {
  const input = [{ text: "rm a" }];
  expect(linesOf(commandsInInput("unheard-of", [], input))).toEqual(["rm a"]);
  for (const program of ["declare", "export", "curl"]) expect(commandsInInput(program, [], input)).toEqual([]);
});

test("an argument after the value of an option may be the name of a script", () => {
  expect(mayRun("yarn", wordsOf("--cwd sub rm a"))).toContain(2);
});
