import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

/** What the documents of two systems name as modules, and where each lives here. */
const places = {
  "000: discovery": "src/runtime/discovery/discover.ts",
  "000: bundled agents": "src/formats/bundled.ts",
  "000: types": "src/core/agent/agent.ts",
  "000: the tool": "src/facades/task.ts",
  "000: commands": "src/formats/skill.ts",
  "000: executor": "src/runtime/execute/execute.ts",
  "000: prompt of the task agent": "agents/task.md",
  "000: discovery helpers": "src/formats/agent-fields.ts",
  "000: order of the places": "src/runtime/discovery/sources.ts",
  "002: types": "src/core/delegation/catalog.ts",
  "002: task tool": "src/facades/subagent-task.ts",
  "002: subagent": "src/doors/subagent.ts",
  "002: configurations": "agents/mycode/Explore.md",
  "002: background runner": "src/runtime/execute/background-helpers.ts",
  "002: index": "src/facades/table.ts",
} as const;

test.each(Object.entries(places))("%s has its place", (_, file) => {
  expect(existsSync(join(import.meta.dirname, "../..", file))).toBe(true);
});
