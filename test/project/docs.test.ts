import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { configPage, sourcesTable, withGenerated } from "../../scripts/docs.mjs";
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
