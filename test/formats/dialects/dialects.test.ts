import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { READ_ONLY_TOOLS, SANDBOXED_TOOLS } from "../../../src/core/vocabulary/tool-names.ts";
import { dialects } from "../../../src/formats/table.ts";
import { type Discovery, discover, type FoundAgent, findAgent } from "../../../src/runtime/discovery/discover.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const fixtures = fileURLToPath(new URL("fixtures/project", import.meta.url));
const EDITS = ["write_file", "edit_file", "delete_file", "move_file"];

let found: Discovery;
beforeAll(async () => {
  found = await discover({ cwd: fixtures, home: "/nowhere", dialects, trust: { project: () => true } });
});

type Row = readonly [dialect: string, name: string, agent: object, codes: readonly string[]];

/** The meaning of each file of each kind in subcrew, and the warnings about it. */
const rows: readonly Row[] = [
  [
    "own",
    "surveyor",
    {
      tools: ["read_file", "glob", "grep_files"],
      disallowedTools: ["bash"],
      model: ["fast", "anthropic/claude-haiku"],
      thinking: "low",
      limits: { maxTurns: 12, maxDurationMs: 150_000 },
      spawns: ["scout"],
      output: { properties: { files: { type: "int32" } } },
      completion: "tool",
      permission: "default",
      skills: ["counting"],
      inputs: { folder: { type: "string", description: "where to look", required: true } },
      instructions: "Count what is in ${folder}.",
    },
    ["no-effect"],
  ],
  ["own", "librarian", { tools: ["read_file"], instructions: "You keep the shelves in order." }, ["unknown-field"]],
  [
    "omp",
    "herald",
    {
      tools: ["read_file", "task", "grep_files"],
      spawns: "*",
      model: ["pi/smol", "haiku"],
      thinking: "minimal",
      background: false,
      skills: ["news", "style"],
      completion: "tool-or-text",
      instructions: "Say it loud.",
    },
    ["no-effect"],
  ],
  [
    "pi",
    "scribe",
    {
      tools: ["read_file", "list_files", "write_file", "ext:notes"],
      model: ["big-one", "small-one"],
      thinking: "high",
      limits: { maxTurns: 7 },
      spawns: ["librarian"],
      background: true,
      isolation: "worktree",
      instructions: "Write it down.",
    },
    ["unknown-tool", "no-effect"],
  ],
  [
    "gencode",
    "Sorter",
    {
      tools: ["read_file", "list_files"],
      model: "haiku",
      limits: { maxTurns: 4 },
      permission: "plan",
      instructions: "Sort.",
    },
    [],
  ],
  ["gencode", "stamper", { tools: ["read_file", "write_file"], instructions: "Stamp it." }, []],
  [
    "claude",
    "critic",
    {
      tools: ["read_file", "grep_files", "task", "bash(git log:*)", "tickets__*"],
      disallowedTools: ["write_file", "mail__*"],
      spawns: ["scout", "sage"],
      model: "sonnet",
      permission: "acceptEdits",
      limits: { maxTurns: 9 },
      thinking: "xhigh",
      memory: "project",
      isolation: "worktree",
      background: true,
    },
    ["repaired", "no-effect", "no-effect", "no-effect", "no-effect"],
  ],
  ["claude", "Backend Builder", { tools: ["read_file", "edit_file"] }, ["unknown-field"]],
  [
    "codex",
    "pathfinder",
    {
      tools: SANDBOXED_TOOLS,
      sandbox: "read-only",
      model: "gpt-5",
      thinking: "medium",
      instructions: "Look around.\nChange nothing.\n",
    },
    ["no-effect", "no-effect"],
  ],
  [
    "gemini",
    "my-agent",
    {
      displayName: "My Agent",
      tools: ["read_file", "grep_files"],
      instructions: "You are an agent specialized in...",
      documentation: "# Agent Documentation (optional)\n\nAdditional markdown content describing your agent.",
      model: "gemini-2.0-flash",
      temperature: 0.1,
      limits: { maxTurns: 20, maxDurationMs: 600_000 },
      completion: "tool",
    },
    [],
  ],
  [
    "gemini",
    "far-one",
    { remote: { cardUrl: "https://agents.example/one" } },
    ["missing-description", "missing-description"],
  ],
  ["gemini", "far-two", { remote: { cardUrl: "https://agents.example/two" } }, []],
  [
    "opencode",
    "backend:sql",
    {
      disallowedTools: EDITS,
      rules: [[{ tool: "bash", says: "ask" }]],
      spawns: ["reader"],
      model: "anthropic/claude-sonnet",
      temperature: 0.2,
      thinking: "high",
      limits: { maxTurns: 6 },
    },
    [],
  ],
  [
    "opencode",
    "plainsman",
    {
      instructions: "Short words only.",
      hidden: true,
      disallowedTools: [...EDITS, "bash", "docs__*"],
      tools: undefined,
    },
    ["no-effect"],
  ],
  ["opencode", "tester", { tools: ["read_file", "grep_files"] }, []],
  [
    "copilot",
    "gardener",
    {
      displayName: "The Gardener",
      tools: [
        "read_file",
        "edit_file",
        "write_file",
        "grep_files",
        "glob",
        "list_files",
        "tracker__list_issues",
        "playwright__*",
      ],
      model: ["GPT-5 (copilot)", "Claude Sonnet"],
      spawns: "*",
      hidden: true,
    },
    ["no-effect", "no-effect", "no-effect"],
  ],
  ["cursor", "watcher", { tools: READ_ONLY_TOOLS, model: "fast", background: true }, []],
  [
    "qwen",
    "tuner",
    {
      tools: ["read_file", "bash", "todo"],
      disallowedTools: ["mail__*"],
      permission: "acceptEdits",
      limits: { maxTurns: 3, maxDurationMs: 60_000 },
      model: "qwen-max",
      temperature: 0.3,
      topP: 0.8,
    },
    ["no-effect"],
  ],
  [
    "factory",
    "welder",
    { tools: ["read_file", "list_files", "grep_files", "glob"], model: "inherit", thinking: "low" },
    ["no-effect"],
  ],
  [
    "codex",
    "pilot",
    {
      description: "Steers a change through review",
      instructions: "Bring it home.",
      permission: "acceptEdits",
      thinking: "high",
    },
    // warnings about the whole file: the two roles that are not agents, and the keys without effect
    ["no-effect", "no-effect", "missing-prompt", "bad-definition", "unknown-field"],
  ],
  ["codex", "lookout", { description: "Watches without a prompt of its own", instructions: "" }, []],
  ["goose", "cook", { model: "some-model", instructions: "Cook." }, []],
  [
    "goose",
    "baker",
    {
      displayName: "The Baker",
      instructions: "Bake a ${thing} for ${guest}. Keep {{ this }}.\n",
      inputs: {
        thing: { type: "string", description: "what to bake", required: true },
        guest: { type: "string", description: "who eats it", required: false },
      },
      tools: ["bash", "oven__*"],
      model: "anthropic/claude-sonnet",
      temperature: 0.4,
      limits: { maxTurns: 5 },
      output: { type: "object", properties: { cake: { type: "string" } } },
    },
    ["no-effect", "no-effect", "no-effect", "no-effect"],
  ],
  ["goose", "toast", { instructions: "Toast it.", tools: [] }, ["no-effect"]],
  [
    "openhands",
    "open-helper",
    {
      tools: ["bash", "read_file", "write_file", "edit_file", "list_files"],
      model: "inherit",
      limits: { maxTurns: 8 },
      permission: "default",
    },
    ["no-effect"],
  ],
  ["deepagents", "bee", { model: "anthropic/claude-haiku", tools: undefined }, []],
  [
    "crewai",
    "researcher",
    {
      displayName: "Senior researcher for {topic}",
      description: "Find what is new about {topic}",
      instructions:
        "You are Senior researcher for {topic}.\n\nYou know where to look and whom to ask.\n\nYour goal: Find what is new about {topic}",
      model: "openai/gpt-4o",
      limits: { maxTurns: 6, maxDurationMs: 90_000 },
      spawns: "*",
      tools: [],
    },
    ["no-effect"],
  ],
  [
    "roo",
    "docs-writer",
    {
      displayName: "Docs Writer",
      description: "When documents are missing",
      tools: ["read_file", "list_files", "glob", "grep_files", "write_file(*.md)", "edit_file(*.md)", "bash"],
      instructions: "You write documents.\n\nUse short sentences.",
    },
    [],
  ],
  [
    "kiro",
    "sentinel",
    {
      instructions: "Let nobody pass.",
      tools: ["read_file", "list_files", "glob", "grep_files", "bash", "tickets__list", "mail__*"],
      disallowedTools: ["bash"],
      rules: [
        [
          { tool: "bash", says: "ask" },
          { tool: "tickets__list", says: "ask" },
          { tool: "mail__*", says: "ask" },
        ],
      ],
    },
    ["no-effect", "no-effect"],
  ],
  ["claude", "tailor", { model: "sonnet", instructions: "Fit." }, ["no-effect"]],
  [
    "subagent",
    "digger",
    {
      tools: ["read_file", "http_get", "memory_list", "memory_read", "memory_write", "memory_patch", "memory_append"],
      model: "fast",
      instructions: "Dig.",
    },
    [],
  ],
];

describe("the agents of every dialect mean the same in subcrew as in their own program", () => {
  test.each(rows)("%s: %s", (dialect, name, agent, codes) => {
    const one = agentOf(name);
    expect(one.agent.source?.dialect).toBe(dialect);
    for (const [field, value] of Object.entries(agent))
      expect({ [field]: one.agent[field as "tools"] }).toEqual({ [field]: value });
    expect(one.problems.map(({ code }) => code)).toEqual(codes);
  });

  test("every dialect has a row in the table of these tests", () => {
    expect([...new Set(rows.map(([dialect]) => dialect))].toSorted()).toEqual(Object.keys(dialects).toSorted());
  });

  test("no file of another format is read as an agent", () => {
    const named = [...rows.map(([, name]) => name), "base-scribe"].toSorted();
    expect(found.agents.map(({ name }) => name).toSorted()).toEqual(named);
  });
});

test("an unknown key makes a Codex role invalid, and the nearest key is suggested", () => {
  const skipped = found.skipped.find(({ file }) => file?.endsWith("typo.toml"));
  expect(skipped?.problems).toMatchObject([
    { code: "unknown-field", severity: "error", field: "sandbox_mod", hint: 'Did you mean "sandbox_mode"?' },
  ]);
});

test("a Codex file whose name is only in config.toml is skipped without an error", () => {
  const place = { file: "/p/.codex/agents/x.toml", relative: "x.toml" };
  const { agents, problems } = dialects["codex"]!.read('model = "m"\ndeveloper_instructions = "Look."\n', place);
  expect([agents, problems.map(({ severity }) => severity)]).toEqual([[], ["info"]]);
});

test("a misspelt key for an allow-list still restricts, and its right name is suggested", () => {
  const hints = agentOf("Backend Builder").problems.map(({ hint }) => hint);
  expect(hints).toContain('Did you mean "tools"?');
});

test.each([
  ["Backend Builder", "Backend Builder"],
  ["The Gardener", "gardener"],
  ["backend/sql", "backend:sql"],
  ["claude:critic", "critic"],
  ["opencode:backend:sql", "backend:sql"],
  ["project:digger", "digger"],
])("%s finds %s", (written, name) => {
  expect(findAgent(found, written)?.name).toBe(name);
});

test("a prompt in another file is read only inside the project", async () => {
  const settings = (path: string): string => `{"agent":{"spy":{"description":"d","prompt":"{file:${path}}"}}}`;
  const root = tempFolder({ "secret.txt": "CANARY", "project/.git/HEAD": "", "project/prompt.txt": "Fine." });
  for (const [path, instructions] of [
    ["./prompt.txt", "Fine."],
    ["../secret.txt", undefined],
    [join(root, "secret.txt"), undefined],
  ] as const) {
    writeFileSync(join(root, "project/opencode.json"), settings(path));
    const all = await discover({
      cwd: join(root, "project"),
      home: "/nowhere",
      dialects,
      trust: { project: () => true },
    });
    expect(all.agents[0]?.agent.instructions).toBe(instructions);
    expect(JSON.stringify(all)).not.toContain("CANARY");
  }
});

function agentOf(name: string): FoundAgent {
  const one = found.agents.find((agent) => agent.name === name);
  if (one === undefined) throw new Error(`${name} was not found: ${JSON.stringify(found.skipped, undefined, 1)}`);
  return one;
}
