import { expect, test } from "vitest";
import { z } from "zod";
import { modelSchemaOf } from "./model-schema.ts";

test("a model reads a schema without its dialect and without limits that restrict nothing", () => {
  const dialect = "https://json-schema.org/draft/2020-12/schema";
  const text = { $schema: dialect, type: "string", minLength: 1, maxLength: 9 };
  const whole = { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 };
  expect(
    modelSchemaOf({
      $schema: dialect,
      properties: {
        text,
        list: { items: whole },
        either: { anyOf: [text, whole] },
        byName: { additionalProperties: text },
      },
      $defs: { text },
    }),
  ).toEqual({
    properties: {
      text: { type: "string", maxLength: 9 },
      list: { items: { type: "integer" } },
      either: { anyOf: [{ type: "string", maxLength: 9 }, { type: "integer" }] },
      byName: { additionalProperties: { type: "string", maxLength: 9 } },
    },
    $defs: { text: { type: "string", maxLength: 9 } },
  });
});

test("limits that restrict, and names and values that look like keywords, stay", () => {
  const schema = {
    properties: { minLength: { type: "string", minLength: 2 }, maximum: { type: "integer", minimum: 0, maximum: 255 } },
    required: ["minLength"],
    enum: [{ $schema: "x", minLength: 1 }],
    default: { minLength: 1 },
    not: { minLength: 1 },
  };
  expect(modelSchemaOf(schema)).toEqual(schema);
});

test("the schema of a type is converted once, so that its text can be kept", () => {
  const schema = z.toJSONSchema(z.object({ n: z.int() }));
  expect(modelSchemaOf(schema)).toBe(modelSchemaOf(schema));
  expect(JSON.stringify(modelSchemaOf(schema))).not.toMatch(/\$schema|9007199254740991/);
});
