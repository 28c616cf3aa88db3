/**
 * About 1,280 agent files as collections publish them, in our own words: with the fields that most files have, and with
 * each oddity as often as it is found. The generator has a fixed seed, so that the number of warnings is always the
 * same.
 */
export function lintCorpus(): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const random = numbers(20_260_817);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const chance = (share: number): boolean => random() < share;
  const some = (list: readonly string[], many: number): string[] =>
    list.toSorted(() => random() - 0.5).slice(0, Math.max(1, many));

  for (const [family, { folder, ending, many, write }] of Object.entries(collections))
    for (let at = 0; at < many; at++) {
      const name = `${pick(ROLES)}-${pick(FIELDS)}-${at}`;
      files.set(`${folder}/${name}${ending}`, write({ name, at, pick, chance, some, family }));
    }
  return files;
}

type Writer = Readonly<{
  name: string;
  at: number;
  family: string;
  pick<T>(list: readonly T[]): T;
  chance(share: number): boolean;
  some(list: readonly string[], many: number): string[];
}>;

type Collection = Readonly<{ folder: string; ending: string; many: number; write(writer: Writer): string }>;

const words = (text: string): string[] => text.trim().split(/\s+/);
const ROLES = words("reviewer writer tester planner fixer guide keeper scout mapper auditor");
const FIELDS = words("api css data docs infra mobile payments python search security sql tests ui");
const CLAUDE = words("Read Write Edit MultiEdit Bash Grep Glob LS WebFetch WebSearch TodoWrite NotebookEdit Task");
const PROGRAMS = words(
  "docker kubernetes terraform redis postgresql jest cypress playwright git npm magic context7 pytest",
);
const SERVERS = words("mcp__docs__search mcp__tickets mcp__browser__* mcp__memory__read_graph");
const VSCODE = words(`
  codebase usages vscodeAPI problems changes testFailure terminalSelection terminalLastCommand openSimpleBrowser fetch findTestFiles
  searchResults githubRepo extensions editFiles runNotebooks search new runCommands runTasks read edit execute web todo agent vscode
  read/readFile search/codebase edit/editFiles execute/runInTerminal web/fetch agent/runSubagent vscode/askQuestions
  execute/getTerminalOutput read/problems execute/createAndRunTask microsoft.docs.mcp github/* playwright/* memory context7/*
`);

/** The forms of descriptions; every twenty-fifth breaks YAML, as in published files. */
function description({ name, at, pick }: Writer): string {
  const plain = `Looks after ${name.replaceAll("-", " ")}. Use it ${pick(["proactively", "after changes", "before a release"])}.`;
  if (at % 25 === 7) return `description: Use it when: something breaks. ${plain}`;
  if (at % 25 === 3)
    return `description: "${plain}\\n\\n<example>\\nuser: 'Look at it'\\nassistant: 'I will.'\\n</example>"`;
  if (at % 6 === 1) return `description: >\n  ${plain}\n  It says what it found.`;
  return `description: ${plain}`;
}

const BODY =
  "\n# Role\n\nYou look at one thing and say what you found.\n\n## Steps\n\n1. Read.\n2. Judge.\n3. Report.\n";
const file = (keys: readonly string[]): string => `---\n${keys.join("\n")}\n---\n${BODY}`;

/** Keys that swarms and collections add and that have no meaning in subcrew. */
function extras({ at, pick, chance }: Writer): string[] {
  if (at % 9 === 0)
    return [
      "type: developer",
      `capabilities:\n  - ${pick(FIELDS)}\n  - ${pick(FIELDS)}`,
      "priority: high",
      'color: "#4CAF50"',
    ];
  if (at % 14 === 0) return [`category: ${pick(FIELDS)}`, "version: 1.2.0", "author: someone", "tags: [a, b]"];
  return chance(0.4) ? [`color: ${pick(["blue", "green", "purple"])}`] : [];
}

function claude(writer: Writer): string {
  const { name, at, pick, chance, some } = writer;
  const tools = some(CLAUDE, 3 + (at % 6));
  if (chance(0.12)) tools.push(pick(SERVERS));
  if (at % 5 === 2) tools.push(...some(PROGRAMS, 4)); // one published collection of agents lists programs as tools
  if (at % 61 === 0) tools.push(...some(["SchemaInspector", "ticket-writer", "chart_maker", "Deploy"], 3));
  if (at % 83 === 0) tools.push("Raed");
  const list = [`tools: ${tools.join(", ")}`, `tools: [${tools.join(", ")}]`, `tools:\n  - ${tools.join("\n  - ")}`][
    at % 3
  ]!;
  return file([
    `name: ${at % 40 === 9 ? name.replaceAll("-", " ") : at % 90 === 11 ? `🌱 ${name}` : name}`,
    description(writer),
    ...(chance(0.68) ? [list] : []),
    ...(chance(0.6) ? [`model: ${pick(["sonnet", "opus", "haiku", "inherit", "claude-sonnet-4-5"])}`] : []),
    ...(chance(0.04) ? [`permissionMode: ${pick(["plan", "acceptEdits", "default"])}`] : []),
    ...(at % 97 === 0 ? ["allowed-tools: Read, Grep"] : []),
    ...(at % 131 === 0 ? ["tools_allowed: Read"] : []),
    ...extras(writer),
  ]);
}

function copilot(writer: Writer): string {
  const { at, pick, chance, some } = writer;
  const tools = chance(0.1) ? ["*"] : some(VSCODE, 4 + (at % 9));
  const list =
    at % 45 === 0
      ? `tools: [\n  ${tools.map((tool) => `'${tool}'`).join(",\n  ")}\n]`
      : `tools: [${tools.map((tool) => `'${tool}'`).join(", ")}]`;
  return file([
    ...(chance(0.7) ? [`name: ${pick(["Garden Guide", "Plan Mode", "Test Writer"])} ${at}`] : []),
    description(writer),
    ...(chance(0.85) ? [list] : []),
    ...(chance(0.4) ? [`model: ${pick(["GPT-4.1", "Claude Sonnet 4", "GPT-5 (copilot)", "'claude-sonnet-4'"])}`] : []),
    ...(chance(0.1) ? ["handoffs:\n  - label: Go on\n    agent: next\n    prompt: Go on.\n    send: false"] : []),
    ...(chance(0.1) ? ["argument-hint: what to look at"] : []),
    ...(chance(0.05) ? ["mode: agent"] : []),
  ]);
}

const codex = (writer: Writer): string =>
  [
    `name = "${writer.name}"`,
    'description = "Looks after one thing."',
    ...(writer.chance(0.5) ? ['model = "gpt-5.4"'] : []),
    ...(writer.chance(0.5) ? ['model_reasoning_effort = "high"'] : []),
    `sandbox_mode = "${writer.chance(0.57) ? "read-only" : "workspace-write"}"`,
    'developer_instructions = """\nLook at one thing.\nSay what you found.\n"""',
    "",
  ].join("\n");

const opencode = (writer: Writer): string =>
  file([
    description(writer),
    `mode: ${writer.pick(["subagent", "subagent", "primary", "all"])}`,
    ...(writer.chance(0.5) ? ["model: anthropic/claude-sonnet-4-5"] : []),
    ...(writer.chance(0.5) ? ["temperature: 0.1"] : []),
    ...(writer.chance(0.5) ? ["tools:\n  write: false\n  edit: false\n  bash: false"] : []),
    ...(writer.chance(0.3)
      ? ['permission:\n  edit: deny\n  bash:\n    "*": ask\n    "git diff*": allow\n  webfetch: deny']
      : []),
    ...(writer.at % 30 === 0 ? ["maxSteps: 12"] : []),
  ]);

const cursor = (writer: Writer): string =>
  file([
    `name: ${writer.name}`,
    description(writer),
    `model: ${writer.pick(["inherit", "fast"])}`,
    ...(writer.chance(0.4) ? ["readonly: true"] : []),
    ...(writer.chance(0.2) ? ["is_background: true"] : []),
    ...(writer.chance(0.2) ? ["tools: Read, Grep"] : []),
  ]);

const gemini = (writer: Writer): string =>
  `---\nname: ${writer.name}\ndescription: Looks after one thing.\nkind: local\ntools:\n  - read_file\n  - grep_search\n  - run_shell_command\nmax_turns: 15\n---\n${BODY}`;

const plain =
  (tools: string, more: readonly string[] = []) =>
  (writer: Writer): string =>
    file([`name: ${writer.name}`, description(writer), ...(writer.chance(0.8) ? [tools] : []), ...more]);

const collections: Readonly<Record<string, Collection>> = {
  claude: { folder: ".claude/agents", ending: ".md", many: 620, write: claude },
  copilot: { folder: ".github/agents", ending: ".agent.md", many: 224, write: copilot },
  codex: { folder: ".codex/agents", ending: ".toml", many: 172, write: codex },
  opencode: { folder: ".opencode/agent", ending: ".md", many: 90, write: opencode },
  cursor: { folder: ".cursor/agents", ending: ".md", many: 40, write: cursor },
  gemini: { folder: ".gemini/agents", ending: ".md", many: 30, write: gemini },
  qwen: {
    folder: ".qwen/agents",
    ending: ".md",
    many: 20,
    write: plain("tools:\n  - read_file\n  - grep_search", ["color: automatic color"]),
  },
  factory: { folder: ".factory/droids", ending: ".md", many: 20, write: plain("tools: read-only", ["model: inherit"]) },
  omp: {
    folder: ".omp/agents",
    ending: ".md",
    many: 20,
    write: plain("tools: read, grep, find, lsp, web_search", ["thinking-level: high", "spawns: scout"]),
  },
  pi: {
    folder: ".pi/agents",
    ending: ".md",
    many: 20,
    write: plain("tools: read, grep, find, ls", ["model: claude-haiku-4-5"]),
  },
  openhands: {
    folder: ".openhands/agents",
    ending: ".md",
    many: 12,
    write: plain("tools: [terminal, file_editor, task_tracker]", ["color: blue"]),
  },
  goose: { folder: ".goose/agents", ending: ".md", many: 10, write: plain("model: gpt-5") },
};

/** Numbers between 0 and 1 that are the same in each run of the tests. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
