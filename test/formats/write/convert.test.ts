import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Agent } from "../../../src/core/agent/agent.ts";
import type { ReadAgent } from "../../../src/core/agent/dialect.ts";
import { judge } from "../../../src/core/policy/judge.ts";
import { permit } from "../../../src/core/policy/permit.ts";
import { createPolicy, narrow } from "../../../src/core/policy/policy.ts";
import { type AgentRule, agentRuleText } from "../../../src/core/rules/agent-rule.ts";
import { READ_ONLY_TOOLS, toolNames } from "../../../src/core/vocabulary/tool-names.ts";
import { dialects } from "../../../src/formats/table.ts";
import { convert } from "../../../src/formats/write/convert.ts";
import { writers } from "../../../src/formats/write/table.ts";
import { discover } from "../../../src/runtime/discovery/discover.ts";
import { propertyRuns } from "../../support/property-runs.ts";

const text = fc.oneof(
  fc.string({ minLength: 1, maxLength: 40 }),
  fc.constantFrom(
    "a: b",
    "yes",
    "1e3",
    "--- x",
    "two\nlines",
    "ünïcode ✓",
    "# not a comment",
    "'quoted' \"twice\"",
    "{x}",
  ),
);
const said = text.map((value) => value.trim()).filter((value) => value !== "");
const name = fc.oneof(
  fc.stringMatching(/^[a-z][a-z0-9-]{0,15}$/),
  fc.constantFrom("Explore", "backend:sql", "a.b", "x_y", "Z9"),
);
const tool = fc.oneof(
  fc.constantFrom(...toolNames),
  fc.constantFrom("mcp_*", "github__*", "github__list_issues", "bash(git log *)"),
);
const toolList = fc.oneof(fc.uniqueArray(tool, { maxLength: 8 }), fc.constantFrom<string[]>([], ["*"], ["*", "task"]));
const models = [
  "inherit fast balanced powerful haiku sonnet opus anthropic/claude-sonnet-5",
  "openai/gpt-6-sol google/gemini-3.8-flash gpt-5.4-mini sonnet:high ollama/qwen3:8b",
];
const model = fc.constantFrom(...models.flatMap((line) => line.split(" ")));
const whole = fc.integer({ min: 1, max: 10_000_000 });
const schema = fc.constantFrom(
  { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
  { properties: { summary: { type: "string" } } },
);

const rule: fc.Arbitrary<AgentRule> = fc
  .record({
    tool: fc.constantFrom("bash", "write_file", "*", "http_get"),
    pattern: fc.option(fc.constantFrom("git *", "src/**", "=exact"), { nil: undefined }),
    says: fc.constantFrom("allow", "ask", "deny"),
  })
  .map(({ tool, pattern, says }) =>
    pattern === undefined || pattern.startsWith("=") ? { tool, says } : { tool, pattern, says },
  );

const agentShape = fc.record(
  {
    name,
    description: said,
    instructions: fc.oneof(said, fc.constantFrom("", " indented", "x\r\ny", "body\n---\nmore", "<!-- note --> text")),
    tools: toolList,
    disallowedTools: fc.uniqueArray(fc.constantFrom("bash", "write_file", "http_get", "github__*"), {
      minLength: 1,
      maxLength: 3,
    }),
    rules: fc.array(fc.uniqueArray(rule, { minLength: 1, maxLength: 4, selector: agentRuleText }), {
      minLength: 1,
      maxLength: 2,
    }),
    spawns: fc.oneof(fc.constant("*" as const), fc.uniqueArray(fc.constantFrom("a", "b", "c-d"), { maxLength: 3 })),
    model: fc.oneof(model, fc.uniqueArray(model, { minLength: 2, maxLength: 3 })),
    thinking: fc.constantFrom("off", "minimal", "low", "medium", "high", "xhigh", 0, 5000),
    limits: fc
      .record(
        {
          maxTurns: whole,
          maxDurationMs: whole,
          maxConcurrentToolCalls: whole,
          maxIdleMs: whole,
          enforceLimits: fc.boolean(),
        },
        { requiredKeys: [] },
      )
      .filter((limits) => Object.keys(limits).length > 0),
    output: schema,
    completion: fc.constantFrom("tool", "tool-or-text", "text"),
    extends: fc.constantFrom("base", "other"),
    displayName: said,
    whenToUse: said,
    documentation: said,
    temperature: fc.constantFrom(0, 0.1, 1),
    topP: fc.constantFrom(0.5, 1),
    permission: fc.constantFrom("plan", "default", "acceptEdits", "auto", "dontAsk", "bypass"),
    skills: fc.uniqueArray(fc.constantFrom("s1", "s2"), { maxLength: 2 }),
    background: fc.boolean(),
    isolation: fc.constant("worktree" as const),
    memory: fc.constantFrom("user", "project", "local"),
    hidden: fc.boolean(),
    cacheMs: fc.constantFrom(1_000, 600_000),
    runner: fc.constantFrom("local", "thread", "process"),
    outputName: fc.constantFrom("report", "answer"),
    inputs: fc.constantFrom({ goal: { type: "string", description: "what", required: true } }),
  },
  { requiredKeys: ["name", "description", "instructions"] },
);

/** Agents as they can be written in a file: a reader returns no others. */
const readAgents: fc.Arbitrary<ReadAgent> = fc
  .tuple(agentShape, fc.boolean(), fc.boolean())
  .map(([shape, off, named]) => {
    const agent: { -readonly [K in keyof Agent]: Agent[K] } = { ...(shape as Agent) };
    if (agent.instructions.trim() === "") delete agent.documentation;
    if (agent.permission === "plan")
      agent.tools = (agent.tools ?? READ_ONLY_TOOLS).filter(
        (each) => READ_ONLY_TOOLS.includes(each) || each === "task",
      );
    if (agent.tools?.includes("task")) agent.spawns ??= "*";
    return {
      agent,
      from: {},
      raw: {},
      kept: [],
      ...(off ? { disabled: true as const } : {}),
      ...(named ? { aliases: ["nick"] } : {}),
    };
  });

/** The agent after it was written in another dialect and read back. */
function through(read: ReadAgent, to: string): ReadAgent {
  const { text: written } = convert(read, to);
  const relative = writers[to]!.file(read.agent.name);
  const [back] = dialects[to]!.read(written, { file: relative, relative }).agents;
  return back!;
}

const plain = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
const sets = new Set(["tools", "disallowedTools", "spawns"]);

/** The fields in which two agents differ, compared without the code of the converter. */
function differences(before: ReadAgent, after: ReadAgent): string[] {
  const flat = ({ agent, disabled }: ReadAgent): Record<string, unknown> => {
    const { source: _source, delegation: _spelled, limits = {}, ...rest } = agent; // each dialect has its own spelling of delegation
    const bounds = Object.entries(limits).map(([key, value]) => [`limits.${key}`, value]);
    return { ...rest, ...Object.fromEntries(bounds), disabled };
  };
  const [a, b] = [flat(before), flat(after)];
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  const value = (record: Record<string, unknown>, key: string): unknown => {
    const found = plain(record[key]);
    return sets.has(key) && Array.isArray(found) ? [...(found as string[])].sort() : found;
  };
  const differing = keys.filter((key) => JSON.stringify(value(a, key)) !== JSON.stringify(value(b, key)));
  const lost = before.aliases?.some((one) => !after.aliases?.includes(one)) ?? false;
  return lost ? [...differing, "aliases"] : differing;
}

describe("subcrew's own files can contain every field", () => {
  test("any agent that is written in subcrew's own format is read back unchanged", () => {
    fc.assert(
      fc.property(readAgents, (read) => {
        expect(convert(read, "own").losses).toEqual([]);
        const back = through(read, "own");
        expect(plain(back.agent)).toEqual(plain(read.agent));
        expect([back.disabled, back.aliases]).toEqual([read.disabled, read.aliases]);
      }),
      { numRuns: propertyRuns(150) },
    );
  });

  test("a remote agent is read back unchanged, too", () => {
    const remote = {
      cardUrl: "https://example.com/card.json",
      auth: { type: "http", scheme: "Bearer", token: "$TOKEN" },
    };
    const agent = { name: "far", description: "d", instructions: "", remote, completion: "tool" as const };
    const read: ReadAgent = { agent, from: {}, raw: {}, kept: [] };
    for (const to of ["own", "gemini"]) {
      expect(convert(read, to).losses).toEqual([]);
      expect(plain(through(read, to).agent)).toEqual(plain(agent));
    }
    expect(() => convert(read, "claude")).toThrow("is a remote agent");
  });
});

describe.each(Object.keys(writers))("from subcrew's own files to %s and back", (to) => {
  test("only the reported fields are lost", () => {
    fc.assert(
      fc.property(readAgents, (read) => {
        const { losses } = convert(read, to);
        const there = through(read, to);
        expect(convert(there, "own").losses).toEqual([]);
        const back = through(there, "own");
        expect(losses.map(({ field }) => field).sort()).toEqual(differences(read, back).sort());
        for (const { kind, field, note } of losses) {
          expect(note).not.toBe("");
          const after = differences(read, back).includes(field);
          expect({ kind, after }).toMatchObject({ after: true });
        }
      }),
      { numRuns: propertyRuns(40) },
    );
  });
});

describe("the names that each dialect uses", () => {
  const plainAgent = (tools: readonly string[]): ReadAgent => ({
    agent: { name: "a", description: "d", instructions: "i", tools },
    from: {},
    raw: {},
    kept: [],
  });
  const listing = Object.keys(writers).filter(
    (id) => !["codex", "cursor", "goose", "deepagents", "openhands"].includes(id),
  );

  test.each(listing)("%s keeps each tool for which it has a name when an agent is converted to it", (to) => {
    const usual = ["read_file", "list_files", "glob", "grep_files", "write_file", "edit_file", "bash"];
    for (const tool of usual) {
      const note = convert(plainAgent([tool]), to).losses.find(({ field }) => field === "tools")?.note ?? "";
      expect({ to, tool, note }).not.toMatchObject({ note: expect.stringContaining("without") });
    }
  });

  test.each([
    ["claude", "tools: Read, Edit, Bash(git log *), mcp__github"],
    ["gemini", "tools: [read_file, replace, mcp_github_*]"],
    ["copilot", "tools: [read, edit, github/*]"],
    ["opencode", "permission:\n  '*': deny\n  read: allow\n  edit: allow\n  github_*: allow"],
    ["factory", "tools: [Read, Edit, mcp__github]"],
    ["omp", "tools: [read, edit, mcp__github__*]"],
    ["pi", "tools: read, edit, mcp:github"],
    ["qwen", "tools: [read_file, edit, mcp__github]"],
    ["kiro", '"tools": [\n    "read",\n    "write",\n    "@github"\n  ]'],
    ["roo", "groups:\n      - read\n      - edit\n      - mcp"],
    ["subagent", "tools: read_file, edit_file, github__*"],
    ["openhands", "tools: [file_editor]"],
    ["crewai", "tools:\n    - read_file\n    - edit_file"],
  ])("%s", (to, wanted) => {
    const { text: written } = convert(plainAgent(["read_file", "edit_file", "bash(git log *)", "github__*"]), to);
    expect(written).toContain(wanted);
  });

  test.each([
    ["claude", "fast", "model: haiku"],
    ["claude", "anthropic/claude-sonnet-5", "model: claude-sonnet-5"],
    ["opencode", "haiku", "model: anthropic/claude-haiku-4-5"],
    ["opencode", "claude-sonnet-4", "model: anthropic/claude-sonnet-4"],
    ["opencode", "gpt-6-sol", "model: openai/gpt-6-sol"],
    ["opencode", "Claude Sonnet 4.5 (copilot)", "model: anthropic/claude-sonnet-4-5"],
    ["gemini", "google/gemini-3.8-flash", "model: gemini-3.8-flash"],
    ["codex", "openai/gpt-6-sol", 'model = "gpt-6-sol"'],
    ["subagent", "powerful", "model: powerful"],
  ])("%s gets its own name for the model %s", (to, model, wanted) => {
    const read = plainAgent([]);
    expect(convert({ ...read, agent: { ...read.agent, model } }, to).text).toContain(wanted);
  });

  test("a model of another provider is left out and reported, because the other program does not know it", () => {
    const read = plainAgent([]);
    const { text: written, losses } = convert(
      { ...read, agent: { ...read.agent, model: "openai/gpt-6-sol" } },
      "claude",
    );
    expect(written).not.toContain("gpt");
    expect(losses).toContainEqual(expect.objectContaining({ field: "model", kind: "dropped" }));
  });

  test("keys without effect in subcrew are kept where the other tool has them, and reported otherwise", () => {
    const raw = { name: "a", description: "d", color: "red", hooks: { Stop: [] }, initialPrompt: "go" };
    const read: ReadAgent = { ...plainAgent([]), raw, kept: ["color", "hooks", "initialPrompt"] };
    const there = convert(read, "qwen");
    expect(there.text).toContain("color: red");
    expect(there.losses.map(({ field, kind }) => [field, kind])).toEqual([
      ["hooks", "approximated"],
      ["initialPrompt", "dropped"],
    ]);
  });
});

describe("a denied tool stays denied in another dialect", () => {
  const denying: ReadAgent = {
    agent: {
      name: "a",
      description: "d",
      instructions: "i",
      disallowedTools: ["write_file", "edit_file"],
      rules: [
        [
          { tool: "bash", says: "deny" },
          { tool: "bash", pattern: "git log *", says: "allow" },
        ],
      ],
    },
    from: {},
    raw: {},
    kept: [],
  };
  const withLists = Object.keys(writers).filter((id) => !["codex", "cursor", "goose", "deepagents"].includes(id));

  test.each(withLists)("%s", (to) => {
    const { agent } = through(denying, to);
    expect([permit(agent, "write_file").allowed, permit(agent, "edit_file").allowed]).toEqual([false, false]);
    const policy = narrow(createPolicy("bypass"), agent);
    const bash = {
      tool: "bash",
      does: "exec",
      effect: "write",
      shell: { sandboxed: true, waived: false, roots: [] },
    } as const;
    const removes = judge(policy, { ...bash, subjects: [{ kind: "command", command: "rm -rf x" }] }).decision;
    expect(permit(agent, "bash").allowed ? removes : "deny").toBe("deny");
  });
});

test("every agent of the fixtures can be written in every dialect", async () => {
  const cwd = fileURLToPath(new URL("../dialects/fixtures/project", import.meta.url));
  const { agents } = await discover({ cwd, home: "/nowhere", dialects, trust: { project: () => true } });
  expect(agents.length).toBeGreaterThan(15);
  for (const { read, name: called } of agents) {
    for (const to of Object.keys(writers)) {
      const elsewhere = read.agent.remote !== undefined && to !== "own" && to !== "gemini";
      if (elsewhere) expect(() => convert(read, to)).toThrow("is a remote agent");
      else expect({ called, to, text: convert(read, to).text }).toMatchObject({ text: expect.stringMatching(/\S/) });
    }
  }
});
