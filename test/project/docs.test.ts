import { describe, expect, test } from "vitest";
import { withSources } from "../../scripts/coverage-sources.mjs";
import { withGenerated } from "../../scripts/docs/config-page.mjs";

test("a page without the marks of its generated part is an error", () => {
  expect(() => withGenerated("text", "x", "y")).toThrow("<!-- x -->");
});

describe("docs/coverage.md", () => {
  const row = (where: string, test: string): string => `| 003-11 | something | ${where} | ${test} |`;
  const suite = [
    'import { dag } from "../../src/facades/dag.ts";',
    'import { cut, type Cut } from "../../src/core/text/cut.ts";',
    'import { scripted } from "../../src/models/scripted/scripted.ts";',
    "",
    "const order = (names: string[]) =>",
    "  dag(names);",
    "",
    'test.each(cases("dag-build"))("$name", () => {',
    "  expect(order([])).toEqual([]);",
    "});",
    "",
    'test("long texts are cut", () => {',
    "  expect(cut(scripted())).toBe(1);",
    "});",
  ].join("\n");

  test.each([
    ["the source next to a unit test", "src/modes/race.test.ts › x", "`src/modes/race.ts`"],
    ["the room of a suite", "test/runtime/loop/loop.test.ts › x", "`src/runtime/loop/`"],
    ["the room of a suite with processes", "test/processes/cli/runs/a.test.ts › x", "`src/cli/runs/`"],
    [
      "the sources that a conformance test uses",
      "test/conformance/a.test.ts › long texts are cut",
      "`src/core/text/cut.ts`",
    ],
    [
      "the sources that it uses through a function",
      "test/conformance/a.test.ts › dag-build 'two'",
      "`src/facades/dag.ts`",
    ],
    [
      "each once, in order",
      "test/runtime/loop/a.test.ts › x; src/modes/race.test.ts › y; test/runtime/loop/b.test.ts › z",
      "`src/modes/race.ts`, `src/runtime/loop/`",
    ],
  ])("lists %s", (_, proof, where) => {
    expect(withSources(row("by hand", proof), () => suite)).toBe(row(where, proof));
  });

  test("a row that is marked as open is not changed", () => {
    expect(withSources(row("", "open: no way to it"), () => suite)).toBe(row("", "open: no way to it"));
  });
});
