import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { withSources } from "../../scripts/coverage-sources.mjs";
import { configPage, dataModules, sourcesTable, withGenerated } from "../../scripts/docs.mjs";
import { config, isProjects } from "../../src/core/config/config.ts";
import { configVariables } from "../../src/core/config/variables.ts";
import { agentFamilies } from "../../src/runtime/discovery/sources.ts";
import { commandFamilies, skillFamilies } from "../../src/runtime/discovery/workflow-sources.ts";

const page = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");
const FRESH = "run `npm run build && npm run docs`";

test("docs/config.md is made from the schema of the settings", () => {
  const schema = z.toJSONSchema(config, { io: "input" });
  expect(page("config.md"), FRESH).toBe(configPage({ schema, variables: configVariables(), isProjects }));
});

test.each([
  ["sources", agentFamilies],
  ["skills", skillFamilies],
  ["commands", commandFamilies],
])("the list of %s in docs/agents.md is made from the data", (name, rows) => {
  const text = page("agents.md");
  expect(text, FRESH).toBe(withGenerated(text, name, sourcesTable(rows)));
});

test("marks that are missing are a mistake", () => {
  expect(() => withGenerated("text", "x", "y")).toThrow("<!-- x -->");
});

test("the modules that npm run docs loads hold what it takes from them", async () => {
  const [config, variables, sources, workflows] = await Promise.all(
    Object.values(dataModules).map(async (path) => {
      const file = `${import.meta.dirname}/../../src/${path}.ts`;
      return Object.keys((await import(file)) as object);
    }),
  );
  expect(config).toEqual(expect.arrayContaining(["config", "isProjects"]));
  expect(variables).toContain("configVariables");
  expect(sources).toContain("agentFamilies");
  expect(workflows).toEqual(expect.arrayContaining(["skillFamilies", "commandFamilies"]));
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
    ["the source beside a unit test", "src/modes/race.test.ts › x", "`src/modes/race.ts`"],
    ["the room of a suite", "test/runtime/loop/loop.test.ts › x", "`src/runtime/loop/`"],
    ["the room of a suite with processes", "test/processes/cli/runs/a.test.ts › x", "`src/cli/runs/`"],
    ["what a conformance test uses", "test/conformance/a.test.ts › long texts are cut", "`src/core/text/cut.ts`"],
    ["what it uses through a function", "test/conformance/a.test.ts › dag-build 'two'", "`src/facades/dag.ts`"],
    [
      "each once, in order",
      "test/runtime/loop/a.test.ts › x; src/modes/race.test.ts › y; test/runtime/loop/b.test.ts › z",
      "`src/modes/race.ts`, `src/runtime/loop/`",
    ],
  ])("names %s", (_, proof, where) => {
    expect(withSources(row("by hand", proof), () => suite)).toBe(row(where, proof));
  });

  test("says of an open row only that it is open", () => {
    expect(withSources(row("", "open: no way to it"), () => suite)).toBe(row("", "open: no way to it"));
  });

  test("has its column of sources made from its tests", () => {
    const text = page("coverage.md");
    expect(text, FRESH).toBe(
      withSources(text, (file) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8")),
    );
  });
});
