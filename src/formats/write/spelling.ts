import { ALL_MCP_TOOLS, ALL_TOOLS, toolNames } from "../../core/vocabulary/tool-names.ts";

/** How a file format writes the names of tools. */
export type Spelling = Readonly<{
  /** Maps each canonical tool name to the name in the file format. A tool without a row has no counterpart. */
  names: Readonly<Record<string, string>>;
  /** The word that means every tool; absent: a file without a tool list means every tool. */
  all?: string;
  /** Spells the name of one tool of an MCP server, of all its tools (`*`), or of all tools of all servers. */
  mcp?(server: string, tool: string): string;
  allMcp?: string;
  /** True: the format supports rules such as `Bash(git log *)`. */
  rules?: boolean;
}>;

/** The names of tools in the target format, without duplicates. Tools without a name in that format are left out. */
export function spelled(tools: readonly string[], spelling: Spelling): string[] {
  return [...new Set(tools.flatMap((tool) => wordFor(tool, spelling) ?? []))];
}

function wordFor(tool: string, spelling: Spelling): string | undefined {
  const [, bare, rule] = /^([^()]+)\((.*)\)$/s.exec(tool) ?? [];
  if (bare !== undefined) {
    const word = spelling.rules ? spelling.names[bare] : undefined;
    return word === undefined ? undefined : `${word}(${rule})`;
  }
  if (tool === ALL_TOOLS) return spelling.all;
  if (tool === ALL_MCP_TOOLS) return spelling.allMcp;
  const cut = tool.indexOf("__");
  if (cut > 0) return spelling.mcp?.(tool.slice(0, cut), tool.slice(cut + 2));
  return Object.hasOwn(spelling.names, tool) ? spelling.names[tool] : undefined;
}

/** A table in which each tool has its canonical name. */
function same(...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, name]));
}

/** The names of tools in subcrew's own files. */
export const ownTools: Spelling = {
  names: same(...toolNames),
  mcp: (server, tool) => `${server}__${tool}`,
  allMcp: ALL_MCP_TOOLS,
  all: ALL_TOOLS,
  rules: true,
};

export const claudeTools: Spelling = {
  names: {
    read_file: "Read",
    list_files: "LS",
    glob: "Glob",
    grep_files: "Grep",
    write_file: "Write",
    edit_file: "Edit",
    bash: "Bash",
    http_get: "WebFetch",
    web_search: "WebSearch",
    todo: "TodoWrite",
    ask: "AskUserQuestion",
    skill: "Skill",
    task: "Agent",
  },
  mcp: (server, tool) => (tool === "*" ? `mcp__${server}` : `mcp__${server}__${tool}`),
  allMcp: "mcp__*",
  rules: true,
};

export const gencodeTools: Spelling = {
  ...claudeTools,
  names: { ...claudeTools.names, task: "Task" },
  all: "*",
};

export const qwenTools: Spelling = {
  names: {
    ...same("read_file", "glob", "write_file", "web_search", "skill"),
    list_files: "list_directory",
    grep_files: "grep_search",
    edit_file: "edit",
    bash: "run_shell_command",
    http_get: "web_fetch",
    todo: "todo_write",
    ask: "ask_user_question",
    task: "agent",
    memory_write: "save_memory",
  },
  mcp: (server, tool) => (tool === "*" ? `mcp__${server}` : `mcp__${server}__${tool}`),
  allMcp: "mcp__*",
  all: "*",
};

export const geminiTools: Spelling = {
  names: {
    ...same("read_file", "glob", "write_file", "complete_task"),
    list_files: "list_directory",
    grep_files: "grep_search",
    edit_file: "replace",
    bash: "run_shell_command",
    http_get: "web_fetch",
    web_search: "google_web_search",
    todo: "write_todos",
    ask: "ask_user",
    skill: "activate_skill",
    memory_write: "save_memory",
  },
  mcp: (server, tool) => `mcp_${server}_${tool}`,
  allMcp: "mcp_*",
  all: "*",
};

export const copilotTools: Spelling = {
  names: {
    read_file: "read",
    list_files: "search",
    glob: "search",
    grep_files: "search",
    write_file: "edit",
    edit_file: "edit",
    bash: "execute",
    http_get: "web",
    web_search: "web",
    todo: "todo",
    task: "agent",
  },
  mcp: (server, tool) => `${server}/${tool}`,
  all: "*",
};

export const factoryTools: Spelling = {
  names: {
    read_file: "Read",
    list_files: "LS",
    glob: "Glob",
    grep_files: "Grep",
    write_file: "Create",
    edit_file: "Edit",
    bash: "Execute",
    http_get: "FetchUrl",
    web_search: "WebSearch",
    todo: "TodoWrite",
    task: "Task",
    ask: "AskUser",
  },
  mcp: (server, tool) => (tool === "*" ? `mcp__${server}` : `mcp__${server}__${tool}`),
  allMcp: "mcp",
};

export const ompTools: Spelling = {
  names: {
    ...same("bash", "web_search", "todo", "ask", "task", "report_finding"),
    read_file: "read",
    list_files: "ls",
    glob: "find",
    grep_files: "grep",
    write_file: "write",
    edit_file: "edit",
    http_get: "fetch",
    complete_task: "yield",
  },
  mcp: (server, tool) => `mcp__${server}__${tool}`,
  allMcp: "mcp__*",
  all: "*",
};

export const piTools: Spelling = {
  names: {
    ...same("bash"),
    read_file: "read",
    list_files: "ls",
    glob: "find",
    grep_files: "grep",
    write_file: "write",
    edit_file: "edit",
    task: "subagent",
  },
  mcp: (server, tool) => (tool === "*" ? `mcp:${server}` : `mcp:${server}/${tool}`),
  allMcp: "mcp:*",
  all: "*",
};

export const kiroTools: Spelling = {
  names: {
    read_file: "read",
    list_files: "read",
    glob: "read",
    grep_files: "read",
    write_file: "write",
    edit_file: "write",
    bash: "shell",
    http_get: "web",
    web_search: "web",
  },
  mcp: (server, tool) => (tool === "*" ? `@${server}` : `@${server}/${tool}`),
  all: "*",
};

export const rooGroups: Spelling = {
  names: {
    read_file: "read",
    list_files: "read",
    glob: "read",
    grep_files: "read",
    write_file: "edit",
    edit_file: "edit",
    bash: "command",
    task: "modes",
  },
  mcp: () => "mcp",
  allMcp: "mcp",
};

export const opencodeTools: Spelling = {
  names: {
    read_file: "read",
    list_files: "list",
    glob: "glob",
    grep_files: "grep",
    write_file: "edit",
    edit_file: "edit",
    delete_file: "edit",
    move_file: "edit",
    bash: "bash",
    http_get: "webfetch",
    web_search: "websearch",
    todo: "todowrite",
    ask: "question",
    skill: "skill",
  },
  mcp: (server, tool) => `${server}_${tool}`,
};

export const openhandsTools: Spelling = {
  names: {
    read_file: "file_editor",
    list_files: "file_editor",
    write_file: "file_editor",
    edit_file: "file_editor",
    ...same("glob"),
    grep_files: "grep",
    bash: "terminal",
    todo: "task_tracker",
    http_get: "browser_tool_set",
    task: "delegate",
  },
};
