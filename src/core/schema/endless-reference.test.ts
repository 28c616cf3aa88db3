import { expect, test } from "vitest";
import { endlessReference } from "./endless-reference.ts";

test.each([
  ["the whole schema", { $ref: "#" }, "#"],
  ["one of its parts", { allOf: [{ type: "object" }, { anyOf: [{ $ref: "#" }] }] }, "#"],
  ["a condition", { if: { type: "string" }, else: { $ref: "#" } }, "#"],
  ["a negation", { not: { $ref: "#" } }, "#"],
  [
    "two definitions",
    { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
    "#/$defs/a",
  ],
  [
    "a definition of a property",
    { properties: { x: { $ref: "#/$defs/a~1b" } }, $defs: { "a/b": { oneOf: [{ $ref: "#/$defs/a~1b" }] } } },
    "#/$defs/a~1b",
  ],
  ["an anchor", { $ref: "#me", $anchor: "me" }, "#me"],
  ["a dynamic anchor", { $dynamicRef: "#me", $dynamicAnchor: "me" }, "#me"],
  ["its id", { $id: "http://x/y", anyOf: [{ $ref: "http://x/y" }] }, "http://x/y"],
  ["a dependent schema", { dependentSchemas: { a: { $ref: "#" } } }, "#"],
  ["items", { items: { $ref: "#/items" } }, "#/items"],
])("a schema that refers to itself by %s is found", (_, schema, reference) => {
  expect(endlessReference(schema)).toBe(reference);
});

test.each([
  ["a tree", { type: "object", properties: { children: { type: "array", items: { $ref: "#" } } } }],
  [
    "a list of definitions",
    { $ref: "#/$defs/node", $defs: { node: { properties: { next: { $ref: "#/$defs/node" } } } } },
  ],
  [
    "the same definition twice",
    { allOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }], $defs: { a: { type: "string" } } },
  ],
  ["a definition that nothing uses", { type: "object", $defs: { a: { $ref: "#/$defs/a" } } }],
  ["text that looks like a reference", { const: { $ref: "#" }, enum: [{ $ref: "#" }], default: { $ref: "#" } }],
  ["a property named $ref", { properties: { $ref: { type: "string" } } }],
  ["an unknown reference", { $ref: "#/$defs/none" }],
  ["booleans", { additionalProperties: false, items: true }],
])("%s is no endless reference", (_, schema) => {
  expect(endlessReference(schema)).toBeUndefined();
});
