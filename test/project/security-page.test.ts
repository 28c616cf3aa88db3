import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");

/** The text of a test file; `undefined` if it does not exist. */
const textOf = (file: string): string | undefined =>
  existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : undefined;

/** The references of a page, as `file › title`, that name a missing file, title or id. */
function brokenReferences(page: string, read: (file: string) => string | undefined): string[] {
  const references = page.matchAll(/`((?:src|test)\/[^`]+\.test\.ts)`(?: › ([^`|()]*))?/g);
  return Array.from(references).flatMap(([, file = "", titles = ""]) => {
    const text = read(file);
    if (text === undefined) return [file];
    const words = titles.split(";").flatMap((title) => {
      const isIds = /^[A-Z]+-\d+(?:(?:,| to) [A-Z]+-\d+)*$/.test(title.trim());
      return isIds ? (title.match(/[A-Z]+-\d+/g) ?? []) : [title.trim()];
    });
    return words.filter((word) => !text.includes(word)).map((word) => `${file} › ${word}`);
  });
}

test("each test that docs/security.md names exists", () => {
  const page = readFileSync(join(root, "docs/security.md"), "utf8");
  expect(page).toContain("` › ");
  expect(brokenReferences(page, textOf)).toEqual([]);
});

test("a reference to a missing file, title or id is reported", () => {
  const row =
    "| A. | `src/a.test.ts` › one; two; `src/b.test.ts` | `src/a.test.ts` › SBX-01 to SBX-04 (see `test/c.test.ts`) |";
  const read = (file: string): string | undefined => (file === "src/a.test.ts" ? 'test("SBX-01: one")' : undefined);
  expect(brokenReferences(row, read)).toEqual([
    "src/a.test.ts › two",
    "src/b.test.ts",
    "src/a.test.ts › SBX-04",
    "test/c.test.ts",
  ]);
});
