import { describe, expect, test } from "vitest";
import { READ_ONLY_TOOLS, toolMatches, toolNames, toolSpellings, toolsNamed } from "./tool-names.ts";

/** FORMATS 1.4: each row is one tool with its names in other programs. */
const table: readonly (readonly [canonical: string, ...spellings: string[]])[] = [
  ["read_file", "Read", "read", "read_many_files", "ReadFile", "NotebookRead"],
  ["list_files", "LS", "list", "list_directory", "ls"],
  ["glob", "Glob", "glob", "find", "Find"],
  ["grep_files", "Grep", "grep", "grep_search", "search_file_content", "search"],
  ["write_file", "Write", "write", "Create", "WriteFile"],
  ["edit_file", "Edit", "MultiEdit", "NotebookEdit", "replace", "ApplyPatch", "apply_patch", "StrReplaceFile"],
  ["bash", "Bash", "PowerShell", "run_shell_command", "Execute", "Shell", "unified_exec"],
  ["bash_output", "BashOutput"],
  ["kill_shell", "KillShell", "KillBash"],
  ["http_get", "WebFetch", "webfetch", "web_fetch", "FetchUrl", "FetchURL"],
  ["web_search", "WebSearch", "websearch", "google_web_search", "SearchWeb"],
  ["todo", "TodoWrite", "todowrite", "write_todos", "todo_write", "SetTodoList", "update_plan"],
  ["task", "Agent", "Task", "task", "invoke_agent", "subagent", "spawn_agent", "delegate_to_agent", "new_task"],
  ["ask", "AskUserQuestion", "question", "ask_user", "ask_user_question", "AskUser", "ask_followup_question"],
  ["skill", "Skill", "skill", "activate_skill"],
  ["complete_task", "StructuredOutput", "structured_output", "submit_result", "yield", "attempt_completion"],
];

test.each(table.flatMap(([canonical, ...spellings]) => spellings.map((spelling) => [spelling, canonical])))(
  "the tool %s is %s",
  (written, canonical) => {
    expect(toolsNamed(written)).toEqual([canonical]);
  },
);

test("no tool name stands for two tools", () => {
  const all = Object.entries(toolSpellings).flatMap(([name, others]) =>
    [name, ...others].map((word) => word.replace(/[-_]/g, "").toLowerCase()),
  );
  const twice = all.filter((word, index) => all.indexOf(word) !== index && toolsNamed(word).length !== 1);
  expect(twice).toEqual([]);
});

describe("tools of MCP servers in every spelling", () => {
  test.each([
    ["mcp__srv__tool", "srv__tool"],
    ["mcp__srv", "srv__*"],
    ["mcp__srv__*", "srv__*"],
    ["mcp__my_srv__my_tool", "my_srv__my_tool"],
    ["mcp__*", "mcp_*"],
    ["mcp_*", "mcp_*"],
    ["mcp_srv_tool", "srv__tool"],
    ["mcp_srv_*", "srv__*"],
    ["srv/tool", "srv__tool"],
    ["srv/*", "srv__*"],
    ["srv_*", "srv__*"],
    ["mcp:srv", "srv__*"],
    ["mcp:srv/tool", "srv__tool"],
    ["@srv", "srv__*"],
    ["srv__tool", "srv__tool"],
    ["web__fetch", "web__fetch"],
    ["web__search", "web__search"],
    ["mcp__web__fetch", "web__fetch"],
    ["srv__*", "srv__*"],
  ])("the MCP tool %s is %s", (written, canonical) => expect(toolsNamed(written)).toEqual([canonical]));

  test.each(["", "nonsense", "invalid-name", "__tool", "server__", "server__tool__extra", "__*"])(
    "%j is not a tool",
    (written) => expect(toolsNamed(written)).toEqual([]),
  );
});

test("a star matches tools in any spelling, but never delegation tools", () => {
  expect(toolsNamed("*Edit*")).toEqual(["edit_file"]);
  expect(toolsNamed("Task*")).toEqual(["todo"]);
  expect(toolsNamed("mcp__srv__get_*")).toEqual(["srv__get_*"]);
  expect(toolsNamed("base64_*")).toEqual(["base64_encode", "base64_decode"]);
});

test.each([
  ["*", "bash", true],
  ["*", "task", false],
  ["mcp_*", "srv__tool", true],
  ["mcp_*", "bash", false],
  ["srv__*", "srv__tool", true],
  ["srv__*", "other__tool", false],
  ["srv__*", "mcp__srv__tool", true],
  ["srv__tool", "mcp__srv__tool", true],
  ["mcp__srv__tool", "mcp__srv__tool", true],
  ["srv__*", "mcp__srv2__tool", false],
  ["mcp_*", "mcp__srv__tool", true],
  ["*", "mcp__srv__tool", true],
  ["bash", "bash", true],
  ["bash(git log:*)", "bash", false],
  ["srv__get_*", "mcp__srv__get_issue", true],
  ["srv__get_*", "srv__delete_issue", false],
  ["*__delete_*", "srv__delete_issue", true],
  ["srv_get_issue", "srv__get_issue", true],
  ["my_srv_*", "my_srv__run", true],
  ["my__srv_run", "my_srv__run", false],
  ["t*k", "task", false],
  ["*Edit*", "edit_file", false],
])("does the pattern %s cover the tool %s: %s", (pattern, tool, covered) =>
  expect(toolMatches(pattern, tool)).toBe(covered),
);

test("the read-only tools change nothing", () => {
  expect(READ_ONLY_TOOLS.filter((name) => !toolNames.includes(name))).toEqual([]);
  expect(
    READ_ONLY_TOOLS.filter((name) => /write|edit|delete|move|bash|post|request|set_|append|patch|task$/.test(name)),
  ).toEqual([]);
});
