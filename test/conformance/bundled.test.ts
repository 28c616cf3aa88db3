import { expect, test } from "vitest";
import type { Agent } from "../../src/core/agent/agent.ts";
import { isRecord } from "../../src/core/text/json.ts";
import { toolsNamed } from "../../src/core/vocabulary/tool-names.ts";
import { readBundledAgents } from "../../src/formats/bundled.ts";
import { gencodeDialect } from "../../src/formats/dialects/gencode.ts";
import { cases } from "./harness.ts";

const bundled = new Map(
  readBundledAgents()
    .toReversed() // the first agent of a name is the one that is used
    .map(({ agent }) => [agent.name, agent]),
);
const agentOf = (name: string): Agent => bundled.get(name)!;
const ofPegasus = new Map(
  readBundledAgents().flatMap(({ agent }) =>
    agent.source?.family === "pegasus" ? [[agent.name, agent] as const] : [],
  ),
);
const canonical = (names: readonly string[]): string[] => names.flatMap((name) => toolsNamed(name)).sort();

test.each(cases<{ type: string }, { groups: Record<string, string[]>; total: number }>("001-pegasus", "tool-set"))(
  "tool-set: $name",
  ({ input, want }) => {
    const { tools = [] } = ofPegasus.get(input.type)!;
    expect(tools).toEqual(Object.values(want.groups).flat());
    expect(tools).toHaveLength(want.total);
  },
);

type Configured = { allowedTools: string[]; defaultModel: string; maxTurns: number };

/** The design of the agent, as a file that the system itself would read. */
const designed: Readonly<Record<string, string>> = {
  "general-purpose": 'allowedTools: ["*"]\ndefaultModel: sonnet\nmaxTurns: 20',
  Explore: 'allowedTools: ["Read", "Glob", "Grep", "LS"]\ndefaultModel: haiku\nmaxTurns: 10',
  Bash: 'allowedTools: ["Bash", "KillShell"]\ndefaultModel: haiku\nmaxTurns: 20',
  Plan: 'allowedTools: ["Read", "Glob", "Grep", "LS", "WebFetch"]\ndefaultModel: sonnet\nmaxTurns: 5',
};

test.each(cases<{ type: string }, Configured>("002-mycode", "agent-type"))(
  "agent-type: $name",
  ({ input, name, want }) => {
    const { allowedTools, defaultModel, maxTurns } = want;
    const isDesigned = name.includes("as designed");
    const text = `---\nname: ${input.type}\ndescription: d\n${designed[input.type]}\n---\nB\n`;
    const { agents, problems } = gencodeDialect.read(text, { file: "x.md", relative: "x.md" });
    expect(problems).toEqual([]);
    const agent = isDesigned ? agents[0]!.agent : agentOf(input.type);
    const [model] = [agent.model ?? ""].flat();
    expect([...(agent.tools ?? [])].sort()).toEqual([...new Set(canonical(allowedTools))]);
    expect({
      defaultModel: isDesigned ? model : `claude-${model}-4`, // subcrew uses the newest model of the same family
      maxTurns: agent.limits?.maxTurns,
    }).toEqual({ defaultModel, maxTurns });
  },
);

type BuiltIn = {
  inputs: Record<string, string>;
  outputName: string;
  output_fields: string[];
  tools: string[];
  maxTurns: number;
  maxTimeMinutes: number;
  temperature: number;
};

test.each(cases<object, BuiltIn | null>("004-gemini", "built-in"))("built-in: $name", ({ name, want }) => {
  const agent = bundled.get(name.replaceAll("_", "-"));
  if (want === null) return expect(agent).toBeUndefined();
  const { inputs = {}, outputName, output, tools = [], limits = {}, temperature } = agent!;
  const kinds = Object.entries(inputs).map(([key, { type, required }]) => [
    key,
    `${required ? "required" : "optional"} ${type}`,
  ]);
  expect({
    inputs: Object.fromEntries(kinds),
    outputName,
    output_fields: fieldsOf(output),
    tools: [...tools].sort(),
    maxTurns: limits.maxTurns,
    maxTimeMinutes: (limits.maxDurationMs ?? 0) / 60_000,
    temperature,
  }).toEqual({ ...want, tools: canonical(want.tools) });
});

/** Describes the fields of a schema in short form: `RelevantLocations[FilePath,...]` is a list of objects. */
function fieldsOf(schema: unknown): string[] {
  const properties = isRecord(schema) && isRecord(schema["properties"]) ? schema["properties"] : {};
  return Object.entries(properties).map(([key, inner]) => {
    const inside = isRecord(inner) ? fieldsOf(inner["items"]) : [];
    return inside.length === 0 ? key : `${key}[${inside.join(",")}]`;
  });
}
