import fc from "fast-check";
import { CORE_SCHEMA, dump, load } from "js-yaml";
import { describe, expect, test } from "vitest";
import { readYaml, yamlLineOf } from "./yaml.ts";
import { propertyRuns } from "../../../test/support/property-runs.ts";

describe("the fast path for simple frontmatter reads the same as the full parser", () => {
  const scalar = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 12 }),
    fc.constantFrom(
      "true",
      "null",
      "~",
      "1",
      "0x1f",
      "1e3",
      ".inf",
      "a: b",
      "# c",
      "- d",
      "*",
      "yes",
      "2020-01-01",
      "",
      " x ",
    ),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
  );
  const value = fc.oneof(
    scalar,
    fc.array(scalar, { maxLength: 4 }),
    fc.dictionary(fc.string({ maxLength: 5 }), scalar, { maxKeys: 3 }),
  );

  test("for YAML written by a dumper", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), value, { maxKeys: 6 }), (data) => {
        const text = dump(data);
        const read = readYaml(text);
        expect(read.ok && structured(read.value)).toEqual(structured(load(text, { schema: CORE_SCHEMA })));
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  test("for YAML written by people", () => {
    const line = fc.constantFrom(
      "a: 1",
      "b: x # y",
      "c: 'it''s'",
      'd: "\\u0041"',
      "e: [1, 'two', three]",
      "f:",
      "  - g",
      "- h",
      "i: |",
      "  j",
      "k: >-",
      "  l",
      "  m",
      "n: {o: p}",
      "? q",
      ": r",
      "s: &t u",
      "v: *t",
      "w: !!str 1",
      "1: x",
      "null: y",
      "a: 2",
      "",
      "# z",
      "---",
      "...",
      "\tx: 1",
      "'a': 3",
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
        const text = `${lines.join("\n")}\n`;
        const read = readYaml(text);
        let theirs: unknown;
        try {
          theirs = load(text, { schema: CORE_SCHEMA });
        } catch (error) {
          expect(read.ok ? read.value : undefined, String(error)).toBeUndefined();
          return;
        }
        expect(read.ok && structured(read.value)).toEqual(structured(theirs));
      }),
      { numRuns: propertyRuns(2_000) },
    );
  });
});

/** Without prototypes, so that both sides compare by keys alone. */
const structured = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

test.each(["__proto__: { a: 1 }\nx: { y: 1 }\n", "? __proto__\n: { a: 1 }\nx:\n  y: 1\n"])(
  "parsed data inherits nothing, and __proto__ is an ordinary key: %j",
  (text) => {
    const read = readYaml(text);
    if (!read.ok) throw new Error(read.reason);
    const value = read.value as Record<string, object>;
    expect(Object.keys(value)).toEqual(["__proto__", "x"]);
    for (const data of [value, value["x"]!]) {
      for (const name of [...Object.getOwnPropertyNames(Object.prototype), "a"]) {
        expect(name in data, name).toBe(name === "__proto__" && data === value);
      }
      const parent = Object.getPrototypeOf(data) as object | null;
      expect(parent === null || (Object.isFrozen(parent) && Object.getPrototypeOf(parent) === null)).toBe(true);
    }
  },
);

test.each([
  ["a: 1\nb:\n  tools: x\ntools: y\n", "tools", 4],
  ["'tools': y\n", "tools", 1],
  ["a: 1\n", "tools", undefined],
])("the line of a key in %j", (text, key, line) => expect(yamlLineOf(text, key)).toBe(line));
