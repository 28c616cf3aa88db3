import fc from "fast-check";
import { expect, test } from "vitest";
import { readJson } from "./json.ts";

test("the JSON reader reads any valid JSON", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const read = readJson(text);
      expect(read.ok && JSON.parse(JSON.stringify(read.value))).toEqual(JSON.parse(text));
    }),
  );
});

test("the JSON reader accepts comments and trailing commas", () => {
  const read = readJson('\ufeff{ // one\n "a": [1, /* two */ 2,], "b": "// text", }\n');
  expect(read).toEqual({ ok: true, value: { a: [1, 2], b: "// text" } });
});

test.each([
  ['{"a":1,"a":2}', 'the key "a" is given twice', 1],
  ["{\n  a: 1 }", "a key in double quotes is expected", 2],
  ["[1 2]", '"," or "]" is expected', 1],
  ["[,]", '"," is not expected here', 1],
  ["{", "a key in double quotes is expected", 1],
  ["", "the text ends too early", 1],
  ["1 2", "text follows after the end of the JSON value", 1],
  ["[".repeat(70), "nested deeper than 64 levels", 1],
])("the JSON reader refuses %s with the reason: %s", (text, reason, line) =>
  expect(readJson(text)).toEqual({ ok: false, reason, line }),
);

test("an object from the JSON reader has no key of the prototype of objects", () => {
  const read = readJson('{"__proto__":{"a":1}}');
  expect(read.ok && Object.keys(read.value as object)).toEqual(["__proto__"]);
  expect(({} as Record<string, unknown>)["a"]).toBeUndefined();
});
