import { join } from "node:path";
import { expect, test } from "vitest";
import type { ReadAgent } from "../../src/core/agent/dialect.ts";
import { emptyCatalog } from "../../src/core/delegation/catalog.ts";
import type { Caller } from "../../src/core/delegation/spawn.ts";
import { spawnSubagent } from "../../src/facades/spawn-subagent.ts";
import { subagentDialect } from "../../src/formats/dialects/subagent.ts";
import { listOf } from "../../src/formats/fields/lists.ts";
import { dialects } from "../../src/formats/table.ts";
import { type Discovery, discover, findAgent } from "../../src/runtime/discovery/discover.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { cases } from "./harness.ts";

type Definition = { name: string; description: string; tools: string[]; prompt: string; source: string };

test.each(
  cases<{ dir_name: string; source: string; content: string }, Definition | null>("001-pegasus", "subagent-file"),
)("subagent-file: $name", ({ input, want }) => {
  // Upstream accepts any name in any folder. Here, only the case about the difference has a folder of another name.
  const relative = `${want?.name ?? input.dir_name}/SUBAGENT.md`;
  const [read] = subagentDialect.read(input.content, { file: `/${relative}`, relative }).agents;
  expect(read === undefined ? null : { ...asDefined(read), source: input.source }).toEqual(want);
});

function asDefined({ agent, raw, from }: ReadAgent): Omit<Definition, "source"> {
  const { name, description, instructions } = agent;
  return { name, description, tools: listOf(raw[from["tools"] ?? "tools"]) ?? ["*"], prompt: instructions };
}

type Batches = { register_batches?: Definition[][]; type?: string };

test.each(cases<Batches, unknown>("001-pegasus", "subagent-registry"))(
  "subagent-registry: $name",
  async ({ input, want }) => {
    const found = await registered(input.register_batches ?? []);
    const [first] = found.agents;
    const listed = first === undefined ? undefined : { ...asDefined(first.read) };
    if (input.type !== undefined) expect(findAgent(found, input.type) ?? null).toEqual(want);
    else if (typeof want === "number") expect(found.agents).toHaveLength(want);
    else if (typeof want === "string") expect(describedTypes(found)).toContain(want);
    else if (Array.isArray(want)) expect(listed?.tools).toEqual(want);
    else expect(listed).toMatchObject(want as object);
  },
);

/** The description of the tool that starts the agents. */
const describedTypes = ({ agents }: Discovery): string => {
  const cards = agents.map(({ agent: { name, description } }) => ({ name, description, readOnly: false }));
  const caller: Caller = {
    agent: "lead",
    spawns: "*",
    depth: 0,
    maxDepth: 1,
    catalog: { ...emptyCatalog, agents: cards },
  };
  const [tool] = spawnSubagent.tools(caller, "spawn_subagent", { clock: () => 0 });
  return tool!.description;
};

/** Agents that were registered earlier or are built in are put into the place with the lower precedence. */
async function registered(batches: readonly (readonly Definition[])[]): Promise<Discovery> {
  const files: Record<string, string> = {};
  for (const [index, batch] of batches.entries()) {
    for (const { name, description, tools, prompt, source } of batch) {
      const place = source === "user" || index > 0 ? "data/subagents" : "subagents";
      files[`${place}/${name}/SUBAGENT.md`] =
        `---\nname: ${name}\ndescription: ${description}\ntools: "${tools.join(", ")}"\n---\n${prompt}\n`;
    }
  }
  const cwd = tempFolder(files);
  return discover({ cwd, home: join(cwd, "home"), dialects, preset: "pegasus", trust: { project: () => true } });
}
