import { expect, test } from "vitest";
import { z } from "zod";
import { isCrewError } from "./error.ts";
import { parseAs } from "./parse.ts";

const shape = z.strictObject({
  name: z.string(),
  tasks: z.array(z.strictObject({ prompt: z.string().min(1), retries: z.number().optional() })).optional(),
  shapes: z
    .record(
      z.string(),
      z.discriminatedUnion("kind", [
        z.strictObject({ kind: z.literal("circle"), radius: z.number() }),
        z.strictObject({ kind: z.literal("square"), side: z.number() }),
      ]),
    )
    .optional(),
  level: z.union([z.number(), z.enum(["low", "high"])]).optional(),
});

function refusal(value: unknown): readonly [string, string] {
  try {
    parseAs(shape, value, { code: "BAD_INPUT", what: "input" });
  } catch (error) {
    if (isCrewError(error) && error.code === "BAD_INPUT") return [error.message, error.hint];
  }
  throw new Error("it was taken");
}

test.each<[unknown, string, string]>([
  [undefined, "The input is missing.", "Give an object."],
  [{}, '"name" of the input is missing.', "Give a text."],
  [{ name: 1 }, '"name" of the input has to be a text, not a number.', "Give a text."],
  [{ name: "x", nmae: "y" }, 'The input has an unknown key "nmae".', 'Did you mean "name"?'],
  [{ name: "x", zzz: 1 }, 'The input has an unknown key "zzz".', "Known keys: name, tasks, shapes, level."],
  [
    { name: "x", tasks: [{ prompt: "a" }, { prompt: "b", retires: 1 }] },
    '"tasks.1" of the input has an unknown key "retires".',
    'Did you mean "retries"?',
  ],
  [{ name: "x", tasks: [{ prompt: "" }] }, '"tasks.0.prompt" of the input is empty.', expect.any(String) as never],
  [
    { name: "x", shapes: { a: { kind: "circle", radius: "wide" } } },
    '"shapes.a.radius" of the input has to be a number, not a text.',
    "Give a number.",
  ],
  ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map((radius): [unknown, string, string] => [
    { name: "x", shapes: { a: { kind: "circle", radius } } },
    `"shapes.a.radius" of the input has to be a number, not ${radius}.`,
    "Give a number.",
  ]),
])("parsing the invalid value %j is refused with an error", (value, message, hint) => {
  expect(refusal(value)).toEqual([message, hint]);
});

test("parsing a valid value returns it with its type", () => {
  expect(parseAs(shape, { name: "x", level: "low" }, { code: "BAD_INPUT", what: "input" })).toEqual({
    name: "x",
    level: "low",
  });
});
