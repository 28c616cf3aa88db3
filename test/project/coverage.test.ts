import { expect, test } from "vitest";
import type { Report } from "../../scripts/coverage.mjs";
import { checkCoverage, rowsOf } from "../../scripts/coverage.mjs";

const counts = { "000": 57, "001": 34, "002": 58, "003": 63, "004": 45 };
const ids = Object.entries(counts).flatMap(([system, count]) =>
  Array.from({ length: count }, (_, n) => `${system}-${String(n + 1).padStart(2, "0")}`),
);

/** A whole table with only open rows, except for the rows given. */
function table(rows: Record<string, string> = {}): string[] {
  return ids.map((id) => rows[id] ?? `| ${id} | something |   | open: no loop |`);
}

const row = (id: string, proof: string): string => `| ${id} | something | \`src/thing.ts\` | ${proof} |`;

const report: Report = {
  testResults: [
    {
      name: "/project/test/thing.test.ts",
      status: "passed",
      startTime: 0,
      endTime: 1,
      assertionResults: [
        { ancestorTitles: ["a thing"], title: "works; always", fullName: "a thing works; always", status: "passed" },
        { ancestorTitles: [], title: "a | b", fullName: "a | b", status: "passed" },
        { ancestorTitles: [], title: "needs a database", fullName: "needs a database", status: "skipped" },
        { ancestorTitles: [], title: "is wrong", fullName: "is wrong", status: "failed" },
      ],
    },
  ],
};

const check = (lines: string[]): string[] => checkCoverage(lines.join("\n"), report, "/project");

test("a table with a row for each item is accepted even if every row is marked as open", () => {
  expect(rowsOf(table().join("\n"))).toHaveLength(257);
  expect(check(["# Coverage", "", "| item | what | where | test |", "|---|---|---|---|", ...table()])).toEqual([]);
});

test.each([
  ["only its title", "test/thing.test.ts › works; always"],
  ["the title after its describe", "test/thing.test.ts › a thing › works; always"],
  ["an escaped bar", "test/thing.test.ts › a \\| b"],
  ["two tests", "test/thing.test.ts › works; always; test/thing.test.ts › a \\| b"],
])("a row is proved by %s", (_, proof) => {
  expect(check(table({ "003-11": row("003-11", proof) }))).toEqual([]);
});

test.each([
  ["a missing id", table().slice(1), ["000-01: no row"]],
  ["a duplicate id", [...table(), table()[0]!], ["000-01: 2 rows"]],
  [
    "an id that does not exist",
    [...table(), table()[0]!.replace("000-01", "004-46")],
    ["004-46: there is no such item"],
  ],
  [
    "a row without a test",
    table({ "003-11": row("003-11", "now") }),
    ['003-11: "now" is neither "open: …" nor "path/file.test.ts › title"'],
  ],
  [
    "an open row that names a source",
    table({ "003-11": row("003-11", "open: nothing") }),
    ["003-11: is open and names a source"],
  ],
  [
    "an open row that does not name what is missing",
    table({ "003-11": "| 003-11 | something |  | open: |" }),
    ["003-11: does not say where it lives: run npm run docs"],
  ],
  [
    "a file that did not run",
    table({ "003-11": row("003-11", "test/gone.test.ts › works") }),
    ["003-11: test/gone.test.ts did not run"],
  ],
  [
    "a missing title",
    table({ "003-11": row("003-11", "test/thing.test.ts › works sometimes") }),
    ['003-11: test/thing.test.ts has no test "works sometimes"'],
  ],
  [
    "a missing second title",
    table({ "003-11": row("003-11", "test/thing.test.ts › works; always; test/thing.test.ts › gone") }),
    ['003-11: test/thing.test.ts has no test "gone"'],
  ],
  [
    "a skipped test",
    table({ "003-11": row("003-11", "test/thing.test.ts › needs a database") }),
    ["003-11: test/thing.test.ts › needs a database did not pass: skipped"],
  ],
  [
    "a failed test",
    table({ "003-11": row("003-11", "test/thing.test.ts › is wrong") }),
    ["003-11: test/thing.test.ts › is wrong did not pass: failed"],
  ],
])("the check fails on %s", (_, lines, problems) => {
  expect(check(lines)).toEqual(problems);
});
