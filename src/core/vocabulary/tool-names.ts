/** Splits a text into a list of words. */
const words = (text: string): string[] => text.trim().split(/\s+/);

/** The tools of subcrew by their canonical names, each with every name that other programs use for the same tool. */
export const toolSpellings: Readonly<Record<string, readonly string[]>> = {
  read_file: ["Read", "ReadFile", "read_many_files", "NotebookRead", "view", "fs_read", "open_files"],
  list_files: ["LS", "list", "list_directory", "list_dir", "ListDirectory"],
  glob: ["Glob", "find", "find_files", "FindFiles", "file_search", "GlobTool"],
  grep_files: ["Grep", "search", "rg", "grep_search", "search_file_content", "search_files", "GrepTool", "text_search"],
  get_file_info: ["stat", "file_info"],
  write_file: ["Write", "WriteFile", "Create", "create_file", "write_to_file", "fs_write", "save-file"],
  edit_file: words(`
    Edit MultiEdit NotebookEdit replace StrReplaceFile ApplyPatch patch apply_diff str_replace
    str-replace-editor insert_edit_into_file replace_string_in_file update_file
  `),
  delete_file: ["Delete", "remove_file"],
  move_file: ["Move", "rename_file"],
  bash: words(`
    Bash PowerShell shell run_shell_command Execute execute_command execute_bash terminal unified_exec
    run_in_terminal run_terminal_cmd launch-process
  `),
  bash_output: ["BashOutput", "get_terminal_output"],
  kill_shell: ["KillShell", "KillBash"],
  http_get: ["WebFetch", "fetch", "FetchUrl", "web_fetch", "read_url"],
  http_post: [],
  http_request: [],
  web_search: ["WebSearch", "google_web_search", "SearchWeb"],
  todo: words(`
    TodoWrite TodoRead write_todos SetTodoList update_plan todos update_todo_list TaskCreate TaskUpdate
    TaskGet
  `),
  ask: ["AskUserQuestion", "ask_user", "question", "ask_followup_question", "request_user_input"],
  skill: ["Skill", "activate_skill"],
  task: words(`
    Task Agent delegate delegate_to_agent invoke_agent spawn_agent spawn_subagent subagent new_task
    custom-agent runSubagent parallel
  `),
  complete_task: ["submit_result", "yield", "StructuredOutput", "task_complete", "attempt_completion", "finish"],
  notify: [],
  send_message: ["SendMessage"],
  current_time: ["time", "now"],
  sleep: [],
  get_env: [],
  set_env: [],
  json_parse: [],
  json_stringify: [],
  base64_encode: [],
  base64_decode: [],
  memory_list: [],
  memory_read: [],
  memory_write: ["save_memory"],
  memory_patch: [],
  memory_append: [],
  task_list: [],
  task_replay: [],
  report_finding: [],
};

/** The name of the delegation tool; `*` never includes it. */
export const DELEGATION_TOOL = "task";
/** In tool lists: every tool except delegation. */
export const ALL_TOOLS = "*";
/**
 * In tool lists: every tool of every MCP server; the tools of one server are `<server>__*`, a single tool is
 * `<server>__<tool>`.
 */
export const ALL_MCP_TOOLS = "mcp_*";

/** The prefix that MCP tools have in requests to a model; tool lists and rules omit it. */
export const MCP_PREFIX = "mcp__";

/** The read-only tools, for agents that must not change anything or whose tools could not be read. */
export const READ_ONLY_TOOLS: readonly string[] = words(`
    read_file list_files get_file_info grep_files glob current_time json_parse base64_decode http_get
    web_search memory_list memory_read task_list task_replay notify todo skill ask
  `);

/** The tools of an agent whose commands run in a read-only sandbox without network, as in Codex. */
export const SANDBOXED_TOOLS: readonly string[] = [
  ...READ_ONLY_TOOLS.filter((tool) => tool !== "http_get" && tool !== "web_search"),
  ...["bash", "bash_output", "kill_shell"],
];

/** The tools that change files. */
export const FILE_CHANGING_TOOLS: readonly string[] = ["write_file", "edit_file", "delete_file", "move_file"];

/**
 * Normalises a tool name: spelling and case do not matter, so `Read_File`, `ReadFile` and `read-file` become the same
 * name.
 */
export const foldName = (name: string): string => name.replace(/[-_]/g, "").toLowerCase();

/**
 * A file format's own words for several tools at once, such as `edit`, `read-only` or `command`. Keys are in the form
 * of `foldName`.
 */
export type ToolGroups = Readonly<Record<string, readonly string[]>>;

/** The canonical names that a written name stands for; empty when the written name is unknown. */
export function toolsNamed(written: string, groups?: ToolGroups): readonly string[] {
  const exact = byExactName.get(written);
  if (exact !== undefined && groups === undefined) return exact;
  const folded = written.includes("__") ? "" : foldName(written); // `web__fetch` is a tool of the server `web`
  if (groups !== undefined && Object.hasOwn(groups, folded)) return groups[folded]!;
  if (written === ALL_TOOLS) return [ALL_TOOLS];
  return byFoldedName.get(folded) ?? ownPattern(written) ?? mcpPattern(written) ?? NONE;
}

/** The canonical name of a tool, from its exact name in another program; nothing is guessed. */
export function canonicalName(written: string): string | undefined {
  return byExactName.get(written)?.[0];
}

/**
 * True when a name or pattern of an allow-list or deny-list covers a tool. `*` inside of a name stands for any
 * characters. A name without `__` also means the tool of a server as opencode writes it: `github_get_issue`.
 */
export function toolMatches(pattern: string, tool: string): boolean {
  const bare = tool.startsWith(MCP_PREFIX) ? tool.slice(MCP_PREFIX.length) : tool;
  if (pattern === tool || pattern === bare) return true;
  if (pattern === ALL_TOOLS) return tool !== DELEGATION_TOOL;
  if (pattern === ALL_MCP_TOOLS) return tool.includes("__");
  const isOfServer = bare.includes("__");
  if (!pattern.includes("*")) return isOfServer && !pattern.includes("__") && pattern === bare.replace("__", "_");
  if (tool === DELEGATION_TOOL) return false;
  return (
    fitsStars(pattern, bare) || (isOfServer && !pattern.includes("__") && fitsStars(pattern, bare.replace("__", "_")))
  );
}

/** True when a pattern with `*` covers the delegation tool in one of its spellings. */
export const matchesDelegation = (pattern: string): boolean =>
  [DELEGATION_TOOL, ...toolSpellings[DELEGATION_TOOL]!].some((name) => fitsStars(pattern, name));

/**
 * Whether a text fits a pattern in which stars stand for any characters. The parts between the stars are searched in
 * order, without going back, so no pattern is slow.
 */
export function fitsStars(pattern: string, text: string): boolean {
  const parts = pattern.split("*");
  const [first, last] = [parts[0]!, parts.at(-1)!];
  if (parts.length === 1) return pattern === text;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  const end = text.length - last.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/** Every canonical tool name. */
export const toolNames: readonly string[] = Object.keys(toolSpellings);

/** True for a canonical tool name, and for a pattern that may match a tool. */
export const isKnownTool = (name: string): boolean => toolsNamed(name).length > 0;

const NONE: readonly string[] = [];
const names = Object.entries(toolSpellings).flatMap(([name, others]) =>
  [name, ...others].map((written): [string, readonly string[]] => [written, [name]]),
);
const byExactName = new Map<string, readonly string[]>([["*", [ALL_TOOLS]], ...names]);
const byFoldedName = new Map(names.map(([written, tools]) => [foldName(written), tools]));

const SERVER = "[A-Za-z0-9*][A-Za-z0-9.*-]*(?:_[A-Za-z0-9.*-]+)*";
const TOOL = "[A-Za-z0-9*][\\w.*-]*?";
/**
 * The forms in which different programs write the MCP tools of a server: Claude and Qwen, Gemini, Copilot, the pi
 * family, Kiro, subcrew.
 */
const mcpForms: readonly RegExp[] = [
  new RegExp(`^mcp__(?<server>${SERVER})(?:__(?<tool>${TOOL}))?$`),
  new RegExp(`^mcp:(?<server>${SERVER})(?:/(?<tool>${TOOL}))?$`),
  new RegExp(`^@(?<server>${SERVER})(?:/(?<tool>${TOOL}))?$`),
  new RegExp(`^(?<server>${SERVER})/(?<tool>${TOOL})$`),
  new RegExp(`^(?<server>${SERVER})__(?<tool>(?!.*__)[A-Za-z0-9*][\\w.*-]*)$`),
  // with single underscores it is unclear where the name of the server ends: the first part counts as the server
  /^mcp_(?<server>[A-Za-z0-9][A-Za-z0-9.-]*)_(?<tool>\*|[A-Za-z0-9][\w.-]*)$/,
  /^(?<server>(?!mcp_)[A-Za-z0-9][\w.-]*?)_(?<tool>\*)$/,
];

/**
 * The canonical names that a pattern means: `memory_*` means the tools of subcrew that begin with `memory_`, and
 * `*Edit*` means the tools with a matching spelling in any program. A pattern never means delegation.
 */
function ownPattern(written: string): readonly string[] | undefined {
  if (!written.includes("*") || written.startsWith("mcp") || written.includes("__") || !/^[\w*-]+$/.test(written))
    return undefined;
  const found = toolNames.filter(
    (name) =>
      name !== DELEGATION_TOOL && [name, ...toolSpellings[name]!].some((spelling) => fitsStars(written, spelling)),
  );
  return found.length > 0 ? found : undefined;
}

function mcpPattern(written: string): readonly string[] | undefined {
  if (written.includes("(")) return undefined;
  if (/^mcp(?:_|__|:|\/)?\*$/.test(written)) return [ALL_MCP_TOOLS];
  for (const form of mcpForms) {
    const parts = form.exec(written)?.groups;
    if (parts !== undefined) return [`${parts["server"]!}__${parts["tool"] ?? "*"}`];
  }
  return undefined;
}
