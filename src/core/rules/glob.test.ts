import fc from "fast-check";
import picomatch from "picomatch";
import { expect, test } from "vitest";
import { globMatcher } from "./glob.ts";

test.each([
  ["*.ts", "a.ts", true],
  ["*.ts", "src/deep/a.ts", true],
  ["*.ts", "a.tsx", false],
  ["src/*.ts", "src/a.ts", true],
  ["src/*.ts", "src/deep/a.ts", false],
  ["src/**/*.ts", "src/a.ts", true],
  ["src/**/*.ts", "src/x/y/a.ts", true],
  ["src/**", "src/x/y", true],
  ["src/**", "src", false],
  ["**/test/**", "a/test/b/c", true],
  ["**/*", "a", true],
  ["./src/*", "src/a", true],
  ["/src/*", "src/a", true],
  ["a?c", "abc", true],
  ["a?c", "ac", false],
  ["[a-c]x", "bx", true],
  ["[!a-c]x", "bx", false],
  ["[]x]", "]", true],
  ["[a", "[a", true],
  ["{a,b}.ts", "b.ts", true],
  ["{a,b{c,d}}.ts", "bd.ts", true],
  ["{a,}b", "b", true],
  ["{a}", "{a}", true],
  ["a{b", "a{b", true],
  ["src/{a,b/**}/x", "src/b/c/x", true],
  ["\\*", "*", true],
  ["\\*", "a", false],
  [".*", ".env", true],
  ["*", ".env", true],
  ["a**b", "axxb", true],
])("does the pattern %s match %s: %s", (pattern, path, matches) => {
  expect(globMatcher(pattern)(path)).toBe(matches);
});

test("the patterns match the same names as picomatch for simple patterns", () => {
  const name = fc
    .string({ unit: fc.constantFrom("a", "b", "."), minLength: 1, maxLength: 4 })
    .filter((text) => !/^\.+$/.test(text));
  const part = fc.string({ unit: fc.constantFrom("a", "b", ".", "*", "?"), minLength: 1, maxLength: 4 });
  const step = fc.oneof(
    part.filter((text) => !text.includes("**") && !/^\.+$/.test(text)),
    fc.constant("**"),
  );
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 2, maxLength: 4 }),
      fc.array(name, { minLength: 1, maxLength: 4 }),
      (steps, names) => {
        // In the other matcher a final `**` also matches nothing; here it follows git.
        fc.pre(steps.at(-1) !== "**");
        const [pattern, path] = [steps.join("/"), names.join("/")];
        fc.pre(pattern !== "**/*.*"); // the other matcher does not match a final dot here
        expect([pattern, path, globMatcher(pattern)(path)]).toEqual([
          pattern,
          path,
          picomatch.isMatch(path, pattern, { dot: true }),
        ]);
      },
    ),
    { numRuns: 2_000 },
  );
});

test("a hostile pattern on a hostile name is matched in a short time", () => {
  const start = performance.now();
  expect(globMatcher(`${"*a".repeat(400)}b`)("a".repeat(250))).toBe(false);
  expect(globMatcher(`${"**/a/".repeat(200)}b`)("a/".repeat(500))).toBe(false);
  expect(performance.now() - start).toBeLessThan(30_000); // trying every way of matching would take very long
});

test("braces that multiply to too many patterns are refused", () => {
  expect(() => globMatcher("{a,b}".repeat(20))).toThrow("more than 256 alternatives");
});
