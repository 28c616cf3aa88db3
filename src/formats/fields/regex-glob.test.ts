import { expect, test } from "vitest";
import { globsOf } from "./regex-glob.ts";

test.each<[regex: string, globs: readonly string[] | undefined]>([
  ["\\.md$", ["*.md"]],
  [".*\\.md$", ["*.md"]],
  ["\\.(ts|tsx)$", ["*.ts", "*.tsx"]],
  ["\\.(?:css|scss)$", ["*.css", "*.scss"]],
  ["(\\.md|\\.txt)$", ["*.md", "*.txt"]],
  ["\\.json$|\\.ya?ml$", undefined],
  ["\\.json$|\\.yml$", ["*.json", "*.yml"]],
  ["^docs/.*\\.md$", ["docs/**/*.md"]],
  ["^docs\\/guide\\/.*\\.(md|mdx)$", ["docs/guide/**/*.md", "docs/guide/**/*.mdx"]],
  ["^src/", ["src/**"]],
  ["^\\.roo/.*$", [".roo/**"]],
  ["\\.md", undefined],
  ["docs/.*", undefined],
  [".*", undefined],
  ["^(?!src/).*\\.md$", undefined],
  ["", undefined],
])("the regular expression %s is converted to globs", (regex, globs) => {
  expect(globsOf(regex)).toEqual(globs);
});
