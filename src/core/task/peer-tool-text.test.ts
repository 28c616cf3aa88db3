import { expect, test } from "vitest";
import { hasLongSchema, toolChanges, visibleSchema } from "./peer-tool-text.ts";

test("the diff of a changed server tool shows each changed part, however long the other parts are", () => {
  const before = { description: `${"x".repeat(9_000)}\nend`, inputSchema: { type: "object" } };
  for (const [change, shown] of [
    [{ description: `${"x".repeat(9_000)}\nend\nmore` }, "+more"],
    [{ inputSchema: { type: "object", title: "t\u200b" } }, '+  "title": "t<U+200B>"'],
    [{ outputSchema: { type: "string" } }, '+output: {\n+  "type": "string"'],
    [{ annotations: { readOnlyHint: true } }, '+  "readOnlyHint": true'],
  ] as const)
    expect(toolChanges(before, { ...before, ...change })).toContain(shown);
});

test("hidden characters in the descriptions of a tool's schema are written out; its values are not changed", () => {
  const schema = { properties: { a: { description: "b\u{e0041}", enum: ["\u200b"], anyOf: [{ title: "\u202e" }] } } };
  expect(visibleSchema(schema)).toEqual({
    properties: { a: { description: "b<U+E0041>", enum: ["\u200b"], anyOf: [{ title: "<U+202E>" }] } },
  });
});

test("a schema of more than 100,000 characters is too long", () => {
  expect(hasLongSchema({ inputSchema: { title: "x".repeat(90_000) } })).toBe(false);
  expect(hasLongSchema({ inputSchema: { title: "x".repeat(100_000) } })).toBe(true);
});
