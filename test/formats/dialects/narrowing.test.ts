import { expect, test } from "vitest";
import type { Agent } from "../../../src/core/agent/agent.ts";
import { permit } from "../../../src/core/policy/permit.ts";
import { dialects } from "../../../src/formats/table.ts";
import { restrictingKeys } from "../../../src/formats/yaml/restricting-keys.ts";

/** A file of each dialect with one more key. `undefined` means that the dialect refuses unknown keys. */
const files: Readonly<Record<string, (line: string) => readonly [relative: string, text: string]>> = {
  own: markdown,
  omp: markdown,
  pi: markdown,
  gencode: markdown,
  claude: markdown,
  opencode: markdown,
  copilot: (line) => markdown(line, "x.agent.md"),
  cursor: markdown,
  qwen: markdown,
  factory: markdown,
  goose: markdown,
  kiro: markdown,
  openhands: markdown,
  deepagents: (line) => markdown(line, "x/AGENTS.md"),
  subagent: (line) => markdown(line, "x/SUBAGENT.md"),
  roo: (line) => [
    ".roomodes",
    `customModes:\n  - slug: x\n    name: X\n    roleDefinition: r\n    groups: [read, edit, command]\n    ${line}\n`,
  ],
  crewai: (line) => ["agents.yaml", `x:\n  role: r\n  goal: g\n  backstory: b\n  ${line}\n`],
};

function markdown(line: string, relative = "x.md"): readonly [string, string] {
  return [relative, `---\nname: x\ndescription: d\n${line}\n---\nWork.\n`];
}

/** The rights that may remain with each key, written by hand and independently of the program. */
const writes = ["write_file", "edit_file", "delete_file", "move_file"];
const keys: readonly (readonly [line: string, gone: readonly string[]])[] = [
  ["disallowedTools: [Write, Bash]", ["write_file", "bash"]],
  ["disallowed-tools: Write, Bash", ["write_file", "bash"]],
  ["denied_tools: [Bash]", ["bash"]],
  ["excludeTools: [Bash]", ["bash"]],
  ["blocked-tools: Bash", ["bash"]],
  ["permissionMode: plan", [...writes, "bash"]],
  ["permission_mode: plan", [...writes, "bash"]],
  ["approval-mode: plan", [...writes, "bash"]],
  ["sandbox_mode: read-only", [...writes, "http_get", "web_search"]],
  ["readonly: true", [...writes, "bash"]],
  ["read_only: yes", [...writes, "bash"]],
  ["readOnly: nonsense", [...writes, "bash"]],
  ["permission: { edit: deny, bash: deny }", [...writes, "bash"]],
];
const allowing = ["allowed-tools: Read, Grep", "allowedTools: [Read]", "tool_allowlist: [Read]", "tools: [Read]"];

const cases = Object.keys(files).flatMap((dialect) => [
  ...keys.map(([line, gone]) => [dialect, line, gone] as const),
  // Kiro's allowedTools are the tools that need no approval.
  ...allowing
    .filter((line) => dialect !== "kiro" || !line.startsWith("allowed"))
    .map((line) => [dialect, line, [...writes, "bash", "http_get"]] as const),
]);

test.each(cases)("%s: %s removes rights", (dialect, line, gone) => {
  const [relative, text] = files[dialect]!(line);
  const { agents, problems } = dialects[dialect]!.read(text, { file: `/w/${relative}`, relative });
  expect(agents, JSON.stringify(problems)).toHaveLength(1);
  const agent: Agent = agents[0]!.agent;
  const left = gone.filter((tool) => {
    const shut = agent.rules?.some((list) => list.some((rule) => rule.tool === tool && rule.says === "deny")) ?? false;
    return permit(agent, tool).allowed && !shut && agent.permission !== "plan";
  });
  expect(left).toEqual([]);
});

test.each(Object.entries(restrictingKeys))(
  "every key that means %s restricts an agent also in broken YAML",
  (meant, keys) => {
    const value = meant === "readonly" ? "true" : meant.startsWith("permission") ? "plan" : "Bash";
    const unrestricted = keys.filter((key) => {
      const [relative, text] = markdown(`note: a: b\n${key} = ${value}`);
      const [found] = dialects["claude"]!.read(text, { file: `/w/${relative}`, relative }).agents;
      const { tools, disallowedTools, permission, spawns } = found!.agent;
      return ![tools?.length === 1, disallowedTools, permission, spawns, tools?.includes("bash") === false].some(
        Boolean,
      );
    });
    expect(unrestricted).toEqual([]);
  },
);

test("dialects that refuse unknown keys refuse the agent", () => {
  const codex = 'name = "x"\ndescription = "d"\ndeveloper_instructions = "i"\ndisallowed_tools = ["Bash"]\n';
  expect(dialects["codex"]!.read(codex, { file: "/w/x.toml", relative: "x.toml" }).agents).toEqual([]);
  const [relative, text] = markdown("disallowedTools: [Bash]");
  expect(dialects["gemini"]!.read(text, { file: "/w/x.md", relative }).agents).toEqual([]);
});

test("a map of booleans allows the tools marked true; in opencode it switches single tools on and off", () => {
  const of = (dialect: string, line: string): Agent => {
    const [relative, text] = markdown(line);
    return dialects[dialect]!.read(text, { file: `/w/${relative}`, relative }).agents[0]!.agent;
  };
  for (const dialect of ["own", "claude", "gencode", "pi", "omp"]) {
    const agent = of(dialect, "tools: { read: true, bash: true, write: false }");
    expect([agent.tools, agent.disallowedTools]).toEqual([["read_file", "bash"], ["write_file"]]);
  }
  expect(of("opencode", "tools: { write: false }").tools).toBe(undefined);
  expect(of("opencode", "tools: { task: true }")).toMatchObject({ tools: ["*", "task"], spawns: "*" });
  expect(of("omp", "tools: read\nspawns: scout")).toMatchObject({ tools: ["read_file", "task"], spawns: ["scout"] });
});
