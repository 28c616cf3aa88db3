import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { repository } from "../../../test/support/repository.ts";
import { type Ignore, isIgnored, parseIgnore } from "./gitignore.ts";
import { propertyRuns } from "../../../test/support/property-runs.ts";

const at = (folder: string, text: string, above?: Ignore): Ignore => ({ folder, rules: parseIgnore(text), above });

test.each([
  ["node_modules", "/r/a/node_modules", true, true],
  ["node_modules/", "/r/node_modules", true, true],
  ["node_modules/", "/r/node_modules", false, false],
  ["/dist", "/r/dist", true, true],
  ["/dist", "/r/a/dist", true, false],
  ["a/b", "/r/a/b", false, true],
  ["a/b", "/r/x/a/b", false, false],
  ["**/b", "/r/x/b", false, true],
  ["a/**", "/r/a", true, false],
  ["a/**", "/r/a/x", false, true],
  ["*.log\n!keep.log", "/r/keep.log", false, false],
  ["!keep.log\n*.log", "/r/keep.log", false, true],
  ["# note", "/r/# note", false, false],
  ["\\# note", "/r/# note", false, true],
  ["\\!x", "/r/!x", false, true],
  ["x  ", "/r/x", false, true],
  ["x\\ ", "/r/x ", false, true],
  ["x\r\n", "/r/x", false, true],
  ["\ufeffx", "/r/x", false, true],
  ["/", "/r/x", false, false],
])("does the ignore pattern %j match %s (folder: %s): %s", (text, path, isFolder, ignored) => {
  expect(isIgnored(at("/r", text), path, isFolder)).toBe(ignored);
});

test("the rules of the nearer file win", () => {
  const top = at("/r", "*.log\nbuild/");
  const near = at("/r/a", "!*.log\nbuild", top);
  expect(isIgnored(near, "/r/a/x.log", false)).toBe(false);
  expect(isIgnored(near, "/r/a/build", false)).toBe(true);
  expect(isIgnored(near, "/r/a/other", false)).toBe(false);
});

test("ignore patterns match the same files as git's", (ctx) => {
  if (spawnSync("git", ["--version"]).status !== 0) return ctx.skip("git is not installed: apt-get install -y git");
  const folder = repository();
  const part = fc
    .string({ unit: fc.constantFrom("a", "b", "*", "?", "[ab]", "\\a"), minLength: 1, maxLength: 3 })
    .filter((text) => !text.includes("**"));
  const line = fc
    .tuple(
      fc.constantFrom("", "!"),
      fc.constantFrom("", "/", "**/"),
      fc.array(fc.oneof(part, fc.constant("**")), { minLength: 1, maxLength: 3 }),
      fc.constantFrom("", "/", " ", "/**"),
    )
    .map(([not, lead, parts, end]) => `${not}${lead}${parts.join("/")}${end}`);
  const name = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 3 });
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 1, maxLength: 4 }),
      fc.array(path, { minLength: 10, maxLength: 20 }),
      (lines, paths) => {
        writeFileSync(join(folder, ".gitignore"), lines.join("\n"));
        const answer = spawnSync("git", ["check-ignore", "--no-index", "--stdin", "-z"], {
          cwd: folder,
          input: `${paths.join("\0")}\0`,
          encoding: "utf8",
        });
        const theirs = new Set(answer.stdout.split("\0").filter((each) => each !== ""));
        const rules = at("/r", lines.join("\n"));
        // Git checks the rules for the parent folders first, as the walk through a folder does.
        const ours = paths.filter((each) =>
          each
            .split("/")
            .some((_, n, names) => isIgnored(rules, `/r/${names.slice(0, n + 1).join("/")}`, n < names.length - 1)),
        );
        expect({ lines, ignored: [...new Set(ours)].sort() }).toEqual({ lines, ignored: [...theirs].sort() });
      },
    ),
    { numRuns: propertyRuns(50) },
  );
});
