import { expect, test } from "vitest";
import type { Agent } from "../../../src/core/agent/agent.ts";
import type { ReadAgent } from "../../../src/core/agent/dialect.ts";
import { delegationToolsOf } from "../../../src/core/delegation/spawn.ts";
import { judge } from "../../../src/core/policy/judge.ts";
import { permit } from "../../../src/core/policy/permit.ts";
import { createPolicy, narrow } from "../../../src/core/policy/policy.ts";
import { dialects } from "../../../src/formats/table.ts";
import { convert } from "../../../src/formats/write/convert.ts";
import { writers } from "../../../src/formats/write/table.ts";
import { mayStart } from "../../../src/core/vocabulary/spawn-list.ts";
import { every, oddShapes } from "./odd-shapes.ts";

const names: Readonly<Record<string, string>> = {
  copilot: "x.agent.md",
  deepagents: "x/AGENTS.md",
  subagent: "x/SUBAGENT.md",
};
const markdownDialects = Object.keys(dialects).filter((id) => !["codex", "roo", "crewai"].includes(id));
const editors: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.replaceAll("\n", "\r\n"),
  (text) => `\ufeff${text}`,
];

/** The tools that the agent may use, and which of these commands its shell runs. */
function rightsOf(agent: Agent, commands: readonly string[]): { tools: string[]; runs: string[] } {
  const policy = narrow(createPolicy("bypass"), agent);
  const isShut = (tool: string): boolean =>
    (agent.rules ?? []).some((list) => {
      const last = list.findLast((rule) => (rule.tool === tool || rule.tool === "*") && rule.pattern === undefined);
      return last?.says === "deny";
    });
  const tools = [...every, "task"].filter((tool) => permit(agent, tool).allowed && !isShut(tool));
  const shell = { sandboxed: true, waived: false, roots: ["/w"] };
  const runs = commands.filter((command) => {
    if (!tools.includes("bash")) return false;
    const call = {
      tool: "bash",
      does: "exec",
      effect: "write",
      subjects: [{ kind: "command", command }],
      shell,
    } as const;
    return judge(policy, call).decision !== "deny";
  });
  return { tools, runs };
}

/** Only these shapes may be refused; every other shape is an agent in each dialect that tolerates unknown keys. */
const refusable = new Set(["dup", "json", "json2"]);

test("unusual but real agent files of every dialect get exactly the permissions that they state, and none is skipped", () => {
  const wrong: unknown[] = [];
  let files = 0;
  for (const [at, [shape, { keys, denied = [], ...oracle }]] of Object.entries(oddShapes).entries())
    for (const [row, dialect] of markdownDialects.entries()) {
      const relative = names[dialect] ?? "x.md";
      // each file as it is, and sometimes as other editors save it
      const texts = editors.filter((_, editor) => editor === 0 || (at + row) % 6 === editor);
      for (const [editor, save] of texts.entries()) {
        const text = save(`---\nname: x\n${keys}\n---\nDo the work.\n`);
        const { agents, problems } = dialects[dialect]!.read(text, { file: `/w/${relative}`, relative });
        const { most, least } = { ...oracle, ...oracle.but?.[dialect] };
        files++;
        const agent = agents[0]?.agent;
        if (agent === undefined) {
          const isStrict = dialect === "gemini" || (dialect === "gencode" && /mode/i.test(keys));
          const isSaid = problems.some(({ severity }) => severity === "error");
          if (!isSaid || !(isStrict || refusable.has(shape))) wrong.push({ shape, dialect, lost: problems });
          continue;
        }
        const { tools, runs } = rightsOf(agent, denied);
        const wider = tools.filter((tool) => !most.includes(tool));
        const missing = least.filter((tool) => !tools.includes(tool));
        if (wider.length + missing.length + runs.length > 0)
          wrong.push({ shape, dialect, editor, wider, missing, runs });
      }
    }
  expect(wrong).toEqual([]);
  expect(files).toBeGreaterThan(2_000);
});

/** Formats whose files list tools by name, so that a conversion to them adds no other tool. */
const exact = ["own", "claude", "omp", "pi", "qwen", "gemini", "opencode"];
const RIGHTS = new Set(["tools", "disallowedTools", "rules", "spawns", "permission", "sandbox"]);
const others = ["scout", "sage", "lead", "x", "test-a"];

test("an unusual file converted to another dialect and read back has no more permissions than before, or the report names the added ones", () => {
  const wrong: unknown[] = [];
  let pairs = 0;
  for (const [at, [shape, { keys, denied = [] }]] of Object.entries(oddShapes).entries())
    for (const [row, dialect] of markdownDialects.entries()) {
      if ((at + row) % 4 !== 0) continue;
      const relative = names[dialect] ?? "x.md";
      const text = `---\nname: x\n${keys}\n---\nDo the work.\n`;
      const [read] = dialects[dialect]!.read(text, { file: `/w/${relative}`, relative }).agents;
      if (read === undefined) continue;
      const before = rightsOf(read.agent, denied);
      // each pair of dialects is tried with a few of the shapes, and each shape with a few of the pairs
      for (const [column, to] of Object.keys(writers).entries()) {
        if ((Math.floor(at / 4) + column) % 7 !== 0) continue;
        const { text: written, path, losses, gained } = convert(read, to);
        const [back] = dialects[to]!.read(written, { file: `/w/${path}`, relative: writers[to]!.file("x") }).agents;
        pairs++;
        const after = rightsOf(back!.agent, denied);
        const wider = after.tools.filter((tool) => !before.tools.includes(tool));
        const runs = after.runs.filter((command) => !before.runs.includes(command));
        const starts = others.filter(
          (name) => mayStart(name, back!.agent.spawns ?? []) && !mayStart(name, read.agent.spawns ?? []),
        );
        const opens = read.agent.sandbox === "read-only" && back!.agent.sandbox !== "read-only";
        const isTold = losses.some(({ field }) => RIGHTS.has(field));
        const untold = wider.filter((tool) => !tool.includes("__") && !gained.includes(tool));
        const isWider = wider.length + runs.length + starts.length > 0 || opens;
        const added = exact.includes(to) ? wider.filter((tool) => !tool.includes("__")) : [];
        if ((isWider && !isTold) || untold.length + added.length > 0)
          wrong.push({ shape, dialect, to, untold, added, runs, starts, opens });
      }
    }
  expect(wrong).toEqual([]);
  expect(pairs).toBeGreaterThan(1_000);
});

/** The agents that a file may start, and the tools that it can use: written by hand. */
test.each<[keys: string, spawns: unknown, delegates: boolean]>([
  ["tools: Read, Task\nspawns: 7", [], true],
  ["tools: Task\nspawns: { scout: true, sage: false }", ["scout"], true],
  ["tools: Task\nspawns: none", [], true],
  ["tools: Task\nspawns: '!scout'", [], true],
  ["tools: Task\nspawns: ['*', '!scout']", ["*", "!scout"], true],
  ["tools: Task\nspawns: { '*': true, scout: false }", ["*", "!scout"], true],
  ["tools: Task\nspawns: [test-*]", ["test-*"], true],
  ["tools: Task\nspawns: ['*', '!scout']\nallowedAgents: [scout, sage]", ["sage"], true],
  ["tools: Task\nspawns: [scout, { sage: true }]", ["scout", "sage"], true],
  ["tools: Agent(scout), Agent(sage)", ["scout", "sage"], true],
  ["tools: [Read, Agent(scout, sage)]", ["scout", "sage"], true],
  ["tools: Agent(scout)\nspawns: '*'", ["scout"], true],
  ["spawns: [scout, sage]\ntools: Task(sage)", ["sage"], true],
  ["tools: Task(*)", "*", true],
  ["tools: Task()", [], true],
  ["tools: Task, Read", "*", true],
  ["tools: '*'", undefined, false],
  ["tools: Task\ndisallowedTools: Agent(scout)", "*", false],
  ["tools: Task\ndisallowedTools: '*'", "*", false],
  ["tools: Task\ndisallowedTools: Ta*", "*", false],
])("%j may start %j", (keys, spawns, delegates) => {
  for (const dialect of ["own", "claude", "gencode", "pi", "copilot", "cursor", "qwen", "factory"]) {
    const relative = names[dialect] ?? "x.md";
    const text = `---\nname: x\ndescription: d\n${keys}\n---\nWork.\n`;
    const agent = dialects[dialect]!.read(text, { file: `/w/${relative}`, relative }).agents[0]!.agent;
    expect([dialect, agent.spawns, permit(agent, "task").allowed]).toEqual([dialect, spawns, delegates]);
  }
});

test.each<[rule: unknown, spawns: unknown, delegates: boolean]>([
  [{ "*": "allow", x: "deny" }, ["*", "!x"], true],
  [{ x: "deny", "*": "allow" }, "*", true],
  [{ "*": "deny", "test-*": "allow", "test-b": "deny" }, ["test-*", "!test-b"], true],
  [{ "*": "allow", x: "ask" }, ["*", "!x"], true],
  [{ "*": "ask" }, [], false],
  [{ "*": "allow", y: "allow" }, "*", true],
  ["allow", "*", true],
  ["deny", [], false],
])(
  "opencode's permission for task %j allows %j, also after a conversion to another dialect and back",
  (task, spawns, delegates) => {
    const text = JSON.stringify({ agent: { lead: { prompt: "p", permission: { task } } } });
    const read = dialects["opencode"]!.read(text, { file: "/w/opencode.json", relative: "opencode.json" }).agents[0]!;
    const starts = ({ agent }: ReadAgent): unknown => [agent.spawns, delegationToolsOf(agent).length > 0];
    expect(starts(read)).toEqual([spawns, delegates]);
    for (const to of ["opencode", "own"]) {
      const again = dialects[to]!.read(convert(read, to).text, { file: "/w/lead.md", relative: "lead.md" }).agents[0]!;
      expect([to, starts(again)]).toEqual([to, [spawns, delegates]]);
    }
  },
);

const codex = (lines: string): string => `name = "x"\ndescription = "d"\ndeveloper_instructions = "i"\n${lines}\n`;
const roo = (lines: string): string => `customModes:\n  - slug: x\n    name: X\n    roleDefinition: r\n${lines}\n`;

test.each<[dialect: string, relative: string, text: string, gone: readonly string[], left: readonly string[]]>([
  ["codex", "x.toml", codex('web_search = "disabled"'), ["web_search", "http_get"], ["bash", "write_file"]],
  ["codex", "x.toml", codex("[tools]\nweb_search = false"), ["web_search", "http_get"], ["bash"]],
  ["codex", "x.toml", codex("[features]\nshell_tool = false"), ["bash"], ["read_file"]],
  ["codex", "x.toml", codex('default_permissions = ":read-only"'), ["write_file", "web_search"], ["bash"]],
  ["codex", "x.toml", codex('sandbox_mode = "READ-ONLY"'), ["write_file", "http_get"], ["bash"]],
  ["codex", "x.toml", codex('sandbox_mode = "locked"'), ["write_file", "bash"], ["read_file"]],
  ["codex", "x.toml", codex('tools = "Read, Grep"'), ["bash", "write_file"], ["read_file"]],
  ["roo", ".roomodes", roo(""), ["read_file", "bash"], []],
  ["roo", ".roomodes", roo("    groups: [read, 7, { command: true }]"), ["bash", "edit_file"], ["read_file"]],
  ["kiro", "x.json", '{"name":"x","prompt":"p","tools":["*"],"excludedTools":["shell"]}', ["bash"], ["read_file"]],
  ["kiro", "x.json", '{"name":"x","prompt":"p","tools":{"read":true}}', ["bash"], ["read_file"]],
  ["kiro", "x.json", '{"name":"x","prompt":"p","permissions":{"deny":["shell"]}}', ["bash"], ["read_file"]],
  [
    "opencode",
    "opencode.json",
    '{"agent":{"x":{"prompt":"p","tools":{"github_delete_repo":false}}}}',
    ["github__delete_repo"],
    ["bash", "github__get_issue"],
  ],
  [
    "opencode",
    "opencode.json",
    '{"agent":{"x":{"prompt":"p","tools":{"*":false,"github_get_issue":true}}}}',
    ["bash", "github__delete_repo"],
    ["github__get_issue"],
  ],
])("the %s agent in %s loses the tools that it switches off: %s", (dialect, relative, text, gone, left) => {
  const { agents, problems } = dialects[dialect]!.read(text, { file: `/w/${relative}`, relative });
  expect(agents, JSON.stringify(problems)).toHaveLength(1);
  const { tools } = rightsOf(agents[0]!.agent, []);
  expect(gone.filter((tool) => tools.includes(tool))).toEqual([]);
  expect(left.filter((tool) => !tools.includes(tool))).toEqual([]);
});
