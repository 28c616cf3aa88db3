import { Ajv2020 } from "ajv/dist/2020.js";
import { Ajv as AjvJtd } from "ajv/dist/jtd.js";
import formats from "ajv-formats";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonSchema } from "../text/json.ts";
import { isJtd, jsonSchemaOf } from "./jtd.ts";
import { propertyRuns } from "../../../test/support/property-runs.ts";

const jtd = new AjvJtd();
const json = new Ajv2020({ strict: false });
formats.default(json);

const leaf = fc.constantFrom<JsonSchema>(
  { type: "string" },
  { type: "boolean" },
  { type: "uint8" },
  { type: "int16" },
  { type: "float64" },
  { enum: ["a", "b"] },
  { type: "string", nullable: true },
);
const names = fc.uniqueArray(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 2 });
const { schema } = fc.letrec<{ schema: JsonSchema }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small" },
    leaf,
    tie("schema").map((elements) => ({ elements })),
    tie("schema").map((values) => ({ values })),
    fc.tuple(names, names, tie("schema"), tie("schema"), fc.boolean()).map(([needed, free, one, other, open]) => ({
      properties: Object.fromEntries(needed.map((name) => [name, one])),
      optionalProperties: Object.fromEntries(
        free.filter((name) => !needed.includes(name)).map((name) => [name, other]),
      ),
      ...(open && { additionalProperties: true }),
    })),
    fc.tuple(tie("schema"), tie("schema")).map(([one, other]) => ({
      discriminator: "kind",
      mapping: { x: { properties: { of: one } }, y: { properties: { of: other } } },
    })),
  ),
}));
const value = fc
  .jsonValue({ maxDepth: 3 })
  .chain((any) =>
    fc.oneof(
      fc.constant(any),
      fc.constantFrom("a", "b", 3, -1, 300, true, null, [], ["a"], {}),
      fc.dictionary(
        fc.constantFrom("a", "b", "c", "kind", "of"),
        fc.constantFrom<unknown>("a", "x", "y", 1, true, any),
      ),
    ),
  );

test("a JTD schema that was translated to JSON Schema accepts exactly what the original accepts", () => {
  fc.assert(
    fc.property(schema, fc.array(value, { minLength: 5, maxLength: 10 }), (given, values) => {
      const one = jtd.compile(given);
      const other = json.compile(jsonSchemaOf(given));
      for (const each of values) expect([each, other(each)]).toEqual([each, one(each)]);
    }),
    { numRuns: propertyRuns(150) },
  );
});

test.each<[string, JsonSchema, boolean]>([
  ["only properties", { properties: { a: { type: "string" } } }, true],
  ["optional properties", { optionalProperties: { a: { type: "string" } } }, true],
  ["its own types", { type: "uint8" }, true],
  ["a list", { elements: { type: "string" } }, true],
  ["a definition", { definitions: { a: { type: "string" } }, ref: "a" }, true],
  ["metadata", { properties: { a: { type: "string", description: "what" } }, description: "who" }, true],
  ["JSON Schema with a type", { type: "object", properties: { a: { type: "string" } } }, false],
  ["JSON Schema with required", { properties: { a: { type: "string" } }, required: ["a"] }, false],
  ["JSON Schema inside", { properties: { a: { type: "number" } } }, false],
  ["keywords of both formats", { type: "string" }, false],
  ["a reference without a target", { ref: "a" }, false],
  ["nothing", {}, false],
])("recognised as JTD: %s", (_, given, is) => {
  expect(isJtd(given)).toBe(is);
  if (!is) expect(jsonSchemaOf(given)).toBe(given);
});

test("the translation of a JTD schema keeps references to definitions and their descriptions", () => {
  const given = {
    definitions: { n: { type: "uint8", metadata: { description: "a number" } } },
    elements: { ref: "n" },
  };
  expect(jsonSchemaOf(given)).toEqual({
    $defs: { n: { type: "integer", minimum: 0, maximum: 255, description: "a number" } },
    type: "array",
    items: { $ref: "#/$defs/n" },
  });
});
