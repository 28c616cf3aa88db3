import { expect, test } from "vitest";
import { readBundledAgents } from "../../src/formats/bundled.ts";
import { dialects } from "../../src/formats/table.ts";
import { discover, findAgent } from "../../src/runtime/discover.ts";

test("bundled agents are found where there is no file", async () => {
  const found = await discover({ cwd: "/nowhere/at/all", home: "/nowhere", dialects, bundled: readBundledAgents() });
  expect(found.agents.map(({ name }) => name)).toEqual(expect.arrayContaining(["explore", "general"]));
  expect(findAgent(found, "bundled:explore")?.agent.tools).toContain("grep_files");
  expect(found.problems).toEqual([]);
});
