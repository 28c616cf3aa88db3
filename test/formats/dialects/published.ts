/** One file as people publish them, in our own words. */
export type Shape = Readonly<{
  what: string;
  /** The path of the published file in its project. */
  path: string;
  text: string;
  /**
   * The tools that the agent may use at most; absent if its file lists no tools, which allows all except delegation.
   */
  most?: readonly string[];
  /** The tools that the agent's file denies. */
  not?: readonly string[];
  /** True when the agent's file lists its tools, so that the agent has each of them. */
  all?: true;
  /** Files in folders of agents that are not agents. */
  none?: true;
}>;

const READS = ["read_file", "list_files", "get_file_info", "grep_files", "glob", "current_time", "json_parse"];
/** The tools of a file that had to be repaired and lists no tools. */
export const LOOKING = words(
  `${READS.join(" ")} base64_decode http_get web_search memory_list memory_read task_list task_replay notify todo skill ask`,
);
const SHELL = ["bash", "bash_output", "kill_shell"];

/** A Claude file with a name and these other keys. */
const claude = (what: string, keys: string, most?: readonly string[], body = "Do the work."): Shape => ({
  what,
  path: `.claude/agents/${what.replace(/\W+/g, "-")}.md`,
  text: `---\nname: ${what.replace(/\W+/g, "-")}\n${keys}\n---\n${body}\n`,
  ...(most && { most, ...(most !== LOOKING && { all: true as const }) }),
});

const other = (path: string, what: string, text: string, most?: readonly string[]): Shape => ({
  what,
  path,
  text,
  ...(most && { most, ...(most !== LOOKING && { all: true as const }) }),
});

const D = "description: Looks after the garden.";
const LONG = "Use this one after planting. Examples:";

/** Every shape that was seen in published collections. */
export const shapes: readonly Shape[] = [
  claude("tools with commas", `${D}\ntools: Read, Grep, Glob`, ["read_file", "grep_files", "glob"]),
  claude("tools with spaces", `${D}\ntools: Read Grep`, ["read_file", "grep_files"]),
  claude("tools in brackets", `${D}\ntools: [Read, "Grep", 'Glob']`, ["read_file", "grep_files", "glob"]),
  claude("tools as json", `${D}\ntools: ["Read","Write"]`, ["read_file", "write_file"]),
  claude("tools as list", `${D}\ntools:\n  - Read\n  - Bash`, ["read_file", ...SHELL]),
  claude("tools as list at the margin", `${D}\ntools:\n- Read\n- LS`, ["read_file", "list_files"]),
  claude("tools in quotes", `${D}\ntools: "Read, Edit"`, ["read_file", "edit_file"]),
  claude("tools in a block", `${D}\ntools: >\n  Read,\n  Edit`, ["read_file", "edit_file"]),
  claude("tools over two lines", `${D}\ntools: Read, Grep,\n  Glob`, ["read_file", "grep_files", "glob"]),
  claude("tools star", `${D}\ntools: *`),
  claude("tools star in a list", `${D}\ntools: ["*"]`),
  claude("tools with patterns", `${D}\ntools: Read, Bash(git log:*), Bash(npm run test:*)`, ["read_file", ...SHELL]),
  claude("tools with a pattern for all", `${D}\ntools: Bash(*), WebFetch(*)`, [...SHELL, "http_get"]),
  claude("tools of servers", `${D}\ntools: Read, mcp__tickets__list, mcp__mail__*`, ["read_file"]),
  claude("tools of servers only", `${D}\ntools: mcp__tickets`, []),
  claude("tools nobody knows", `${D}\ntools: Read, ListMcpResourcesTool, Frobnicate`, ["read_file"]),
  claude("tools with agents", `${D}\ntools: Agent(scout, sage), Read`, ["read_file", "task"]),
  claude("tools in lower case", `${D}\ntools: read, write, bash`, ["read_file", "write_file", ...SHELL]),
  claude("tools with a comma at the end", `${D}\ntools: Read, Grep,`, ["read_file", "grep_files"]),
  claude("tools with a comment", `${D}\ntools: Read, Grep # no edits`, ["read_file", "grep_files"]),
  claude("tools of no use", `${D}\ntools: 7`, []),
  claude("no tools at all", `${D}\ntools: []`, []),
  claude("tools null", `${D}\ntools:`, []),
  claude("allowed tools", `${D}\nallowedTools:\n  - Read\n  - "Bash(*)"`, ["read_file", ...SHELL]),
  claude("allowed tools with a dash", `${D}\nallowed-tools: Read, Grep`, ["read_file", "grep_files"]),
  { ...claude("denied tools", `${D}\ndisallowedTools: Write, Edit, Bash`), not: ["write_file", "edit_file", ...SHELL] },
  claude("both lists", `${D}\ntools: Read, Write, Bash\ndisallowedTools: Bash`, ["read_file", "write_file"]),
  claude("a mode that only plans", `${D}\npermissionMode: plan`, LOOKING),
  claude("a mode that asks nobody", `${D}\ntools: Read\npermissionMode: bypassPermissions`, ["read_file"]),
  claude("a mode nobody knows", `${D}\npermissionMode: godMode`, LOOKING),
  claude("a colon in the description", `description: Reviews plants: leaf, stem and root\ntools: Read`, ["read_file"]),
  claude("a colon and no tools", `description: Use it like so: plant, water, wait`),
  claude(
    "examples in the description",
    [
      `description: ${LONG} <example>Context: spring. user: "Is it time?" assistant: "I will ask the gardener."</example>`,
      "tools: Read, Grep",
    ].join("\n"),
    ["read_file", "grep_files"],
  ),
  claude(
    "examples with written line ends",
    [
      `description: "${LONG}\\n\\n<example>\\nuser: \\"Now?\\"\\nassistant: \\"Soon.\\"\\n</example>"`,
      "tools: Read",
      "color: green",
    ].join("\n"),
    ["read_file"],
  ),
  claude(
    "examples with bare line ends",
    [`description: ${LONG}\\n\\n<example>\\nContext: frost.\\nuser: 'Cover them?'\\n</example>`, "tools: Read"].join(
      "\n",
    ),
    ["read_file"],
  ),
  claude(
    "examples that run on over lines",
    [
      `description: ${LONG}`,
      "<example>",
      "Context: a pest was seen",
      'user: "What now?"',
      "</example>",
      "tools: Read",
    ].join("\n"),
    ["read_file"],
  ),
  claude("a description in a literal block", `description: |\n  First: this.\n  Then: that.\ntools: Read`, [
    "read_file",
  ]),
  claude("a description in a folded block", `description: >-\n  Long text\n  over lines: all of it.\ntools: Read`, [
    "read_file",
  ]),
  claude("a description that begins with a heading", `description: ## Who you are A gardener.\ntools: Read`, [
    "read_file",
  ]),
  claude("a description with an apostrophe", `description: 'The gardener's helper'\ntools: Read`, ["read_file"]),
  claude("a description with open quotes", `description: "Grows things\ntools: Read`, ["read_file"]),
  claude("a description with a star", `description: *Always* use it\ntools: Read`, ["read_file"]),
  claude("a description with an at sign", `description: @garden helper\ntools: Read`, ["read_file"]),
  claude("a description with brackets", `description: [Garden] helper\ntools: Read`, ["read_file"]),
  claude("a description with signs", "description: 🌱 Grows → harvests — 50% faster & better\ntools: Read", [
    "read_file",
  ]),
  claude("a description in another script", "description: 庭の世話をする。例：「水をやる」\ntools: Read", [
    "read_file",
  ]),
  claude("a description among other data", `metadata:\n  description: Grows beans\ntools: Read`, ["read_file"]),
  claude("a colour by name", `${D}\ncolor: Chartreuse\ntools: Read`, ["read_file"]),
  claude("a colour in hex", `${D}\ncolor: #4CAF50\ntools: Read`, ["read_file"]),
  claude("a colour in quotes", `${D}\ncolor: "#4CAF50"\ntools: Read`, ["read_file"]),
  claude("two models", `${D}\nmodel: sonnet | opus\ntools: Read`, ["read_file"]),
  claude("a model by its full name", `${D}\nmodel: claude-sonnet-4-5-20250929\ntools: Read`, ["read_file"]),
  claude("a model with a comment", `${D}\nmodel: inherit # or opus\ntools: Read`, ["read_file"]),
  claude("tabs", `description:\tGrows beans\ntools:\tRead`, ["read_file"]),
  claude("tabs before a list", `${D}\ntools:\n\t- Read\n\t- Grep`, ["read_file", "grep_files"]),
  claude("a stray indent", `${D}\n tools: Read\nmodel: sonnet`, ["read_file"]),
  claude(
    "keys of a swarm",
    [
      D,
      "type: developer",
      "capabilities:\n  - planting\n  - weeding",
      "priority: high",
      'hooks:\n  pre: |\n    echo "begin: $TASK"\n  post: |\n    echo done',
      "tools: Read",
    ].join("\n"),
    ["read_file"],
  ),
  claude("keys with dashes", `${D}\nmax-turns: 12\npermission-mode: plan\ntools: Read, Bash`, ["read_file"]),
  claude("the same key twice", `${D}\ntools: Read\ntools: Read`, ["read_file"]),
  claude("servers and skills", `${D}\ntools: Read\nmcpServers:\n  - tickets\nskills: [pruning]\nmemory: project`, [
    "read_file",
  ]),
  claude("dashes in the body", `${D}\ntools: Read`, ["read_file"], "One.\n\n---\n\nTwo.\n\n---\nname: other\n---"),
  other(
    ".claude/agents/Head Gardener.md",
    "a name with spaces",
    `---\nname: Head Gardener\n${D}\ntools: Read\n---\nx`,
    ["read_file"],
  ),
  other(".claude/agents/signs.md", "a name with signs", `---\nname: 🌱 grower\n${D}\ntools: Read\n---\nx`, [
    "read_file",
  ]),
  other(".claude/agents/42.md", "a number for a name", `---\nname: 42\n${D}\ntools: Read\n---\nx`, ["read_file"]),
  other(".claude/agents/upper.md", "a name in capitals", `---\nname: GARDENER_V2\n${D}\ntools: Read\n---\nx`, [
    "read_file",
  ]),
  other(".claude/agents/quoted.md", "a name in quotes", `---\nname: "rose-keeper"\n${D}\ntools: Read\n---\nx`, [
    "read_file",
  ]),
  other(".claude/agents/nameless.md", "no name", `---\n${D}\ntools: Read\n---\nx`, ["read_file"]),
  other(".claude/agents/top.md", "empty lines before the dashes", `\n\n---\nname: top\n${D}\ntools: Read\n---\nx`, [
    "read_file",
  ]),
  other(".claude/agents/bodyless.md", "no body", `---\nname: bodyless\n${D}\ntools: Read\n---\n`, ["read_file"]),
  other(
    ".codex/agents/digger.toml",
    "a Codex role",
    'name = "digger"\ndescription = "Digs"\nsandbox_mode = "read-only"\ndeveloper_instructions = """\nDig.\n"""\n',
    [...LOOKING.filter((tool) => tool !== "http_get" && tool !== "web_search"), ...SHELL],
  ),
  other(
    ".codex/agents/planter.toml",
    "a Codex role that writes",
    'name = "planter"\ndescription = "Plants"\nmodel = "gpt-5"\nmodel_reasoning_effort = "high"\nsandbox_mode = "workspace-write"\ndeveloper_instructions = "Plant."\n',
  ),
  other(
    ".gemini/agents/sower.md",
    "a Gemini agent",
    "---\nname: sower\ndescription: Sows\ntools:\n  - read_file\n  - run_shell_command\n  - mcp_seeds_*\nmodel: gemini-2.5-pro\nmax_turns: 9\n---\nSow.",
    ["read_file", ...SHELL],
  ),
  other(
    ".github/agents/mower.agent.md",
    "a Copilot agent",
    "---\nname: Mower\ndescription: 'Mows'\ntools: ['codebase', 'search', 'editFiles', 'runCommands', 'githubRepo', 'pylance mcp server/*']\nmodel: GPT-5 (copilot)\nhandoffs:\n  - label: Rake\n    agent: raker\n    prompt: Rake it.\n    send: false\n---\nMow.",
    ["grep_files", "glob", "list_files", "edit_file", "write_file", ...SHELL],
  ),
  other(
    ".github/agents/raker.md",
    "a Copilot agent with sets",
    '---\ndescription: Rakes\ntools: ["read/readFile", "search/codebase", "web", "agent", "tickets/*"]\nuser-invokable: false\n---\nRake.',
    ["read_file", "grep_files", "glob", "list_files", "web_search", "http_get", "task"],
  ),
  other(
    ".opencode/agent/pruner.md",
    "an opencode agent",
    '---\ndescription: Prunes\nmode: subagent\ntemperature: 0.1\npermission:\n  edit: deny\n  webfetch: deny\n  bash:\n    "*": ask\n    "git diff*": allow\n---\nPrune.',
    undefined,
  ),
  other(
    ".opencode/agent/weeder.md",
    "an opencode agent that is shut",
    '---\ndescription: Weeds\nmode: subagent\npermission:\n  "*": deny\n  read: allow\n  bash: { "*": deny, "git log*": allow }\n---\nWeed.',
    ["read_file", ...SHELL],
  ),
  other(
    ".opencode/agent/beds/trimmer.md",
    "an opencode agent with switches",
    "---\ndescription: Trims\nmode: all\ntools:\n  write: false\n  edit: false\n  bash: false\n---\nTrim.",
    undefined,
  ),
  other(
    ".kilo/agents/stacker.md",
    "a Kilo agent",
    '---\ndescription: Stacks\nmode: subagent\npermission: { edit: { "*": deny, "**/*.md": allow }, bash: deny }\n---\nStack.',
    undefined,
  ),
  other(
    ".cursor/agents/watcher.md",
    "a Cursor agent",
    `---\nname: watcher\n${D}\nmodel: fast\nreadonly: true\nis_background: true\n---\nWatch.`,
    LOOKING,
  ),
  other(
    ".qwen/agents/binder.md",
    "a Qwen agent",
    `---\nname: binder\n${D}\ntools:\n  - read_file\n  - glob\napprovalMode: plan\ncolor: automatic color\n---\nBind.`,
    ["read_file", "glob"],
  ),
  other(
    ".factory/droids/carrier.md",
    "a droid",
    `---\nname: carrier\n${D}\nmodel: inherit\ntools: read-only\n---\nCarry.`,
    ["read_file", "list_files", "grep_files", "glob"],
  ),
  other(
    ".pi/agents/marker.md",
    "a pi agent",
    `---\nname: marker\n${D}\ntools: read, grep, find, ls\nmodel: claude-haiku-4-5\n---\nMark.`,
    ["read_file", "grep_files", "glob", "list_files"],
  ),
  other(
    ".omp/agents/hauler.md",
    "an oh-my-pi agent",
    `---\nname: hauler\n${D}\ntools: read, bash\nspawns: "*"\nthinking-level: high\n---\nHaul.`,
    ["read_file", ...SHELL, "task"],
  ),
  other(
    ".kiro/agents/guard.json",
    "a Kiro agent",
    '{"name":"guard","description":"Guards","prompt":"Guard.","tools":["read","shell"],"allowedTools":["read"],"toolsSettings":{"shell":{"deniedCommands":["rm .*"]}},"resources":[],"hooks":{}}',
    ["read_file", "list_files", "glob", "grep_files", ...SHELL],
  ),
  other(
    ".roomodes",
    "Roo modes",
    'customModes:\n  - slug: scribe\n    name: "📝 Scribe"\n    roleDefinition: >-\n      You write.\n    groups:\n      - read\n      - - edit\n        - fileRegex: \\.(md|mdx)$\n          description: Markdown only\n    source: project\n',
    ["read_file", "list_files", "glob", "grep_files", "write_file", "edit_file"],
  ),
  other(
    ".agents/agents/neutral.md",
    "a neutral agent",
    `---\nname: neutral\n${D}\ntools: [read_file, bash]\n---\nBe fair.`,
    ["read_file", ...SHELL],
  ),
  { ...other(".claude/agents/README.md", "a file about the others", "# The gardeners\n\nFour files."), none: true },
  {
    ...other(".claude/agents/unclosed.md", "dashes that never close", `---\nname: unclosed\n${D}\n\nBody.`),
    none: true,
  },
  {
    ...other(".claude/agents/notes.md", "notes with a title", "---\ntitle: Notes\ndate: 2026-01-01\n---\nText."),
    none: true,
  },
];

/** The same agent file with other line ends, a byte order mark or extra blanks, and in a deeper folder. */
export function variants({ path, text }: Shape): readonly (readonly [path: string, text: string])[] {
  const asIs = [path, text] as const;
  if (!path.startsWith(".claude/agents/") || path.endsWith("README.md")) return [asIs];
  const named = (suffix: string): string => path.replace(/\.md$/, `-${suffix}.md`);
  const renamed = (suffix: string): string => text.replace(/^name: (["']?)([\w-]+)\1$/m, `name: $1$2-${suffix}$1`);
  return [
    asIs,
    [named("crlf"), renamed("crlf").replaceAll("\n", "\r\n")],
    [named("bom"), `\ufeff${renamed("bom")}`],
    [named("spaced"), renamed("spaced").replace(/^---$/gm, "--- ")],
    [named("deep").replace("agents/", "agents/beds/north/"), renamed("deep")],
  ];
}

function words(text: string): string[] {
  return text.split(/\s+/);
}
