import { expect, test } from "vitest";
import type { Agent } from "../../../src/core/agent/agent.ts";
import { permit } from "../../../src/core/policy/permit.ts";
import { dialects } from "../../../src/formats/table.ts";
import { discover } from "../../../src/runtime/discovery/discover.ts";
import { tempFolder } from "../../support/temp-folder.ts";

/** The folder and the file extension of each Markdown dialect. */
const places: Readonly<Record<string, readonly [folder: string, ending: string]>> = {
  own: [".subcrew/agents", ".md"],
  neutral: [".agents/agents", ".md"],
  omp: [".omp/agents", ".md"],
  pi: [".pi/agents", ".md"],
  gencode: [".gen/agents", ".md"],
  claude: [".claude/agents", ".md"],
  opencode: [".opencode/agents", ".md"],
  copilot: [".github/agents", ".agent.md"],
  cursor: [".cursor/agents", ".md"],
  qwen: [".qwen/agents", ".md"],
  factory: [".factory/droids", ".md"],
  goose: [".goose/agents", ".md"],
  kiro: [".kiro/agents", ".md"],
  openhands: [".openhands/agents", ".md"],
};

/**
 * The most and the fewest rights that the words of a file give, written by hand and independently of the program.
 * `looks` are tools that change nothing outside; one word of a dialect may mean several of them.
 */
const looks =
  "read_file list_files get_file_info grep_files glob current_time json_parse base64_decode http_get web_search memory_list memory_read task_list task_replay notify todo skill ask".split(
    " ",
  );
const finds = ["read_file", "grep_files", "glob", "list_files"];
const shell = ["bash", "bash_output", "kill_shell"];
const changes = ["write_file", "edit_file", "delete_file", "move_file"];
const every = [...new Set([...looks, ...shell, ...changes, "http_post", "http_request", "memory_write"])];
const without = (...gone: readonly string[]): readonly string[] => every.filter((tool) => !gone.includes(tool));

type Shape = Readonly<{
  keys: string;
  most: readonly string[];
  least: readonly string[];
  /** Dialects in which the same words have another meaning, with that meaning. */
  but?: Readonly<Record<string, Partial<Pick<Shape, "most" | "least">>>>;
}>;

const shapes: Readonly<Record<string, Shape>> = {
  plain: { keys: "description: Waters the plants.", most: every, least: every },
  words: { keys: "description: Waters.\ntools: Read, Grep", most: finds, least: ["read_file", "grep_files"] },
  "block-list": { keys: "description: Waters.\ntools:\n  - Read\n  - Grep", most: finds, least: ["read_file"] },
  "bracket-in-column-0": {
    keys: "description: >\n  Waters\n  plants.\ntools: [\n  'Read',\n  'Grep'\n]",
    most: finds,
    least: ["read_file"],
  },
  "items-in-column-0": {
    keys: "description: Waters.\ntools: [\n'Read',\n'Grep',\n]",
    most: finds,
    least: ["read_file"],
  },
  "colon-and-tools": {
    keys: "description: Use it so: water, wait\ntools: Read, Grep",
    most: finds,
    least: ["read_file"],
  },
  "colon-and-bracket": {
    keys: "description: Use it so: water\ntools: [\n  Read,\n  Grep\n]",
    most: finds,
    least: ["read_file"],
  },
  "colon-without-tools": { keys: "description: Use it so: water, wait", most: every, least: every },
  "example-text": {
    keys: "description: Use it. Examples:\nuser: 'Is it dry?'\nassistant: 'I will look: now.'\ntools: Read",
    most: finds,
    least: ["read_file"],
  },
  "bare-star": { keys: "description: Waters.\ntools: *", most: every, least: every },
  "only-lines": { keys: "description: Waters.\nmetadata:\n  - a\n  b: [", most: looks, least: ["read_file"] },
  "swallowed-tools": { keys: "description: Use it so: water\n      tools: Read", most: looks, least: ["read_file"] },
  "unreadable-tools": { keys: "description: Waters.\ntools: {{{", most: [], least: [] },
  "unclosed-list": { keys: "description: Waters.\ntools: [Read, Grep", most: finds, least: ["read_file"] },
  "empty-list": { keys: "description: Waters.\ntools: []", most: [], least: [] },
  denied: {
    keys: "description: Waters.\ndisallowedTools: [Bash, Write]",
    most: without(...shell, "write_file"),
    least: ["read_file"],
  },
  "denied-with-dashes": {
    keys: "description: Waters.\ndisallowed-tools: Bash",
    most: without(...shell),
    least: ["read_file"],
  },
  "denied-in-broken": {
    keys: "description: So: water\ndisallowedTools: Bash",
    most: without(...shell),
    least: ["read_file"],
  },
  excluded: { keys: "description: Waters.\nexcluded_tools: [Bash]", most: without(...shell), least: ["read_file"] },
  allowed: {
    keys: "description: Waters.\nallowed-tools: Read, Grep",
    most: finds,
    least: ["read_file"],
    but: { kiro: { most: every } }, // in Kiro this key lists tools that need no approval
  },
  plan: { keys: "description: Waters.\npermissionMode: plan", most: looks, least: ["read_file"] },
  "plan-and-tools": {
    keys: "description: Waters.\ntools: Read, Bash\npermission-mode: plan",
    most: finds,
    least: ["read_file"],
  },
  "unknown-mode": { keys: "description: Waters.\npermissionMode: anything-goes", most: looks, least: ["read_file"] },
  readonly: { keys: "description: Waters.\nreadonly: true", most: looks, least: ["read_file"] },
  "read-only": { keys: "description: Waters.\ntools: Read, Write\nread_only: yes", most: finds, least: ["read_file"] },
  sandbox: {
    keys: "description: Waters.\nsandbox_mode: read-only",
    most: [...looks.filter((tool) => !/http|web/.test(tool)), ...shell],
    least: ["read_file"],
  },
  map: {
    keys: "description: Waters.\ntools: { read: true, bash: false }",
    most: finds,
    least: ["read_file"],
    but: { opencode: { most: without(...shell) } }, // in opencode this key switches single tools on and off
  },
  notes: {
    keys: "description: Waters.\npriority: high\ntype: garden\ntools: Read",
    most: finds,
    least: ["read_file"],
    but: { gencode: { least: [] } },
  },
};

const files = Object.entries(places).flatMap(([dialect, [folder, ending]]) =>
  Object.entries(shapes)
    // For GenCode an unknown permission mode makes the file invalid, so that no agent is loaded from it.
    .filter(([name]) => dialect !== "gencode" || name !== "unknown-mode")
    .map(([name, shape]) => {
      const { most, least } = { ...shape, ...shape.but?.[dialect] };
      const text = `---\nname: ${dialect}-${name}\n${shape.keys}\n---\nDo the work.\n`;
      return { path: `${folder}/${dialect}-${name}${ending}`, text, most, least };
    }),
);

test("every agent file of the corpus loads, with exactly the permissions that it states", async () => {
  expect(files.length).toBeGreaterThan(120);
  const root = tempFolder(Object.fromEntries(files.map(({ path, text }) => [path, text])));
  const found = await discover({ cwd: root, home: "/nowhere", dialects, trust: { project: () => true } });
  const agents = new Map(found.agents.map(({ file, agent }) => [file?.slice(root.length + 1), agent]));
  const isShut = ({ rules = [] }: Agent, tool: string): boolean =>
    rules.some((list) => list.findLast((rule) => rule.tool === tool || rule.tool === "*")?.says === "deny");
  const wrong = files.flatMap(({ path, most, least }) => {
    const agent = agents.get(path);
    if (!agent) return path.includes("gencode-notes") ? [] : [{ path, wider: [], missing: ["the agent itself"] }];
    const has = every.filter((tool) => permit(agent, tool).allowed && !isShut(agent, tool));
    const wider = has.filter((tool) => !most.includes(tool));
    const missing = least.filter((tool) => !has.includes(tool));
    return wider.length + missing.length > 0 ? [{ path, wider, missing }] : [];
  });
  expect(wrong).toEqual([]);
});

test("each warning about the corpus names something that a person can change", async () => {
  const root = tempFolder(Object.fromEntries(files.map(({ path, text }) => [path, text])));
  const found = await discover({ cwd: root, home: "/nowhere", dialects, trust: { project: () => true } });
  const notes = found.problems.filter(({ file }) => /-(?:notes|plain|words|bracket-in-column-0)\b/.test(file ?? ""));
  expect(notes.filter(({ severity }) => severity === "warning")).toEqual([]);
});
