import { expect, test } from "vitest";
import type { Agent } from "../../../src/core/agent/agent.ts";
import { permit } from "../../../src/core/policy/permit.ts";
import { DELEGATION_TOOL, toolNames } from "../../../src/core/vocabulary/tool-names.ts";
import { dialects } from "../../../src/formats/table.ts";
import { discover } from "../../../src/runtime/discovery/discover.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { shapes, variants } from "./published.ts";

/** Every file in every variant, and the agents that were read from it. */
async function load(): Promise<ReadonlyMap<string, readonly Agent[]>> {
  const files = shapes.flatMap((shape) => variants(shape));
  const root = tempFolder(Object.fromEntries(files));
  const found = await discover({ cwd: root, home: "/nowhere", dialects, trust: { project: () => true } });
  const all = [...found.agents, ...found.shadowed.map((each) => each.found)];
  return new Map(
    files.map(([path]) => [path, all.filter(({ file }) => file === `${root}/${path}`).map(({ agent }) => agent)]),
  );
}

const ALL = toolNames.filter((tool) => tool !== "complete_task");
const usable = (agent: Agent): string[] => ALL.filter((tool) => permit(agent, tool).allowed);

test("at least 97 % of published agent files load, and other files do not", async () => {
  const agents = await load();
  const meant = shapes.filter(({ none }) => !none).flatMap((shape) => variants(shape).map(([path]) => path));
  const lost = meant.filter((path) => agents.get(path)!.length === 0);
  expect(meant.length).toBeGreaterThan(300);
  expect({ lost, rate: 1 - lost.length / meant.length }).toEqual({ lost: [], rate: 1 });
  const others = shapes.filter(({ none }) => none).flatMap((shape) => variants(shape).map(([path]) => path));
  expect(others.filter((path) => agents.get(path)!.length > 0)).toEqual([]);
});

test("no published file gets a tool that it does not list, or loses an existing tool that it lists", async () => {
  const agents = await load();
  const wrong = shapes.flatMap((shape) =>
    variants(shape).flatMap(([path]) => {
      const { most = ALL.filter((tool) => tool !== DELEGATION_TOOL), not = [], all } = shape;
      return agents.get(path)!.flatMap((agent) => {
        const tools = usable(agent);
        const more = tools.filter((tool) => !most.includes(tool) || not.includes(tool));
        const missing = all ? most.filter((tool) => !tools.includes(tool)) : [];
        return more.length + missing.length > 0 ? [{ path, more, missing }] : [];
      });
    }),
  );
  expect(wrong).toEqual([]);
});
