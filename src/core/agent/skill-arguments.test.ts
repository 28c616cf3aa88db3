import fc from "fast-check";
import { expect, test } from "vitest";
import { expandCommand, expandSkill } from "./skill-arguments.ts";

test("the arguments of a skill: quoted words of a command line stay together", () => {
  expect(expandSkill("$0|$1|$ARGUMENTS", ["a b", "c"])).toBe("a b|c|a b c");
  expect(expandCommand("$1|$2|$@", ["a b", "c"])).toBe("a b|c|a b c");
});

test("arguments of a skill are numbered from 0, those of a command from 1", () => {
  expect(expandSkill("$0 $ARGUMENTS[1] $ARGUMENTS", "x y")).toBe("x y x y");
  expect(expandCommand("$1 $ARGUMENTS[1] $ARGUMENTS $0", "x y")).toBe("x y x y $0");
});

test("the text of a skill keeps a placeholder for which there is no argument", () => {
  expect(expandSkill("$3 and $ARGUMENTS", "x")).toBe("$3 and x");
  expect(expandSkill("Review $ARGUMENTS.", "")).toBe("Review $ARGUMENTS.");
  expect(expandSkill("Review $ARGUMENTS and $0.", [])).toBe("Review $ARGUMENTS and $0.");
  expect(expandSkill("Review $ARGUMENTS.", undefined)).toBe("Review $ARGUMENTS.");
  expect(expandSkill("Review.", [])).toBe("Review.");
});

test("the text of a skill: placeholders inside of inserted arguments are not expanded", () => {
  const hostile = fc.string().map((text) => `${text}$& $\` $' $$ $1 $@ $ARGUMENTS`);
  fc.assert(
    fc.property(hostile, (text) => {
      expect(expandCommand("<$@>", text)).toBe(`<${text}>`);
      expect(expandSkill("<$ARGUMENTS>", text)).toBe(`<${text}>`);
    }),
  );
});
