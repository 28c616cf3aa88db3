import { expect, test } from "vitest";
import { parseArguments } from "../core/task/parse-arguments.ts";
import { toolsNamed } from "../core/vocabulary/tool-names.ts";
import { unstyledToolName } from "../core/vocabulary/tool-name-styles.ts";
import { builtinTools } from "./table.ts";

const parsed = (name: string, given: object) =>
  parseArguments(builtinTools().get(unstyledToolName(name) ?? toolsNamed(name)[0]!)!, given);

/** Calls as models of other programs send them: the tool, what is sent, what is understood. */
const understood: readonly (readonly [string, string, object, object])[] = [
  ["Claude Code", "Read", { file_path: "a", offset: 3, limit: 9 }, { path: "a", offset: 3, limit: 9 }],
  ["Claude Code", "Write", { file_path: "a", content: "x" }, { path: "a", content: "x" }],
  [
    "Claude Code",
    "Edit",
    { file_path: "a", old_string: "x", new_string: "y", replace_all: true },
    { path: "a", oldText: "x", newText: "y", replaceAll: true },
  ],
  [
    "Claude Code",
    "Bash",
    { command: "ls", timeout: 5_000, description: "Lists", run_in_background: true },
    { command: "ls", timeoutMs: 5_000, background: true },
  ],
  ["Claude Code", "BashOutput", { bash_id: "b1" }, { id: "b1" }],
  ["Claude Code", "KillShell", { shell_id: "b1" }, { id: "b1" }],
  ["Claude Code", "Glob", { pattern: "*.ts", path: "src" }, { pattern: "*.ts", path: "src" }],
  [
    "Claude Code",
    "Grep",
    { pattern: "x", glob: "*.ts", output_mode: "content", "-i": true, "-C": 2, head_limit: 5 },
    { pattern: "x", glob: "*.ts", filesOnly: false, ignoreCase: true, context: 2, maxResults: 5 },
  ],
  ["Claude Code", "Grep", { pattern: "x", output_mode: "files_with_matches" }, { pattern: "x", filesOnly: true }],
  [
    "Claude Code",
    "TodoWrite",
    { todos: [{ content: "one", status: "completed", activeForm: "Doing one" }] },
    { action: "set", items: [{ title: "one", status: "completed" }] },
  ],
  [
    "Claude Code",
    "AskUserQuestion",
    { questions: [{ question: "Which?", header: "h", options: [{ label: "a" }, { label: "b" }], multiSelect: false }] },
    { question: "Which?", options: ["a", "b"] },
  ],
  ["Claude Code", "Skill", { skill: "pdf", args: "x" }, { name: "pdf", arguments: "x" }],
  ["Codex", "shell", { command: ["bash", "-lc", "ls | wc"], timeout_ms: 900 }, { command: "ls | wc", timeoutMs: 900 }],
  ["Codex", "shell", { command: ["git", "log", "a b"] }, { command: "git log 'a b'" }],
  ["Codex", "unified_exec", { cmd: "ls" }, { command: "ls" }],
  ["Codex", "list_dir", { dir_path: "src" }, { path: "src" }],
  ["Codex", "grep_files", { pattern: "x", include: "*.rs", limit: 3 }, { pattern: "x", glob: "*.rs", maxResults: 3 }],
  [
    "Codex",
    "update_plan",
    { plan: [{ step: "one", status: "in_progress" }] },
    { action: "set", items: [{ title: "one", status: "in_progress" }] },
  ],
  ["Gemini CLI", "read_file", { absolute_path: "a", offset: 0 }, { path: "a", offset: 1 }],
  ["Gemini CLI", "read_file", { file_path: "a", start_line: 5, end_line: 9 }, { path: "a", offset: 5, limit: 5 }],
  ["Gemini CLI", "run_shell_command", { command: "ls", is_background: false }, { command: "ls", background: false }],
  ["Gemini CLI", "list_directory", { dir_path: "src" }, { path: "src" }],
  [
    "Gemini CLI",
    "replace",
    { file_path: "a", old_string: "x", new_string: "y", allow_multiple: true },
    { path: "a", oldText: "x", newText: "y", replaceAll: true },
  ],
  [
    "Gemini CLI",
    "grep_search",
    { pattern: "x", dir_path: "src", include_pattern: "*.c", case_sensitive: false, names_only: true },
    { pattern: "x", path: "src", glob: "*.c", ignoreCase: true, filesOnly: true },
  ],
  [
    "Gemini CLI",
    "write_todos",
    { todos: [{ description: "one", status: "cancelled" }] },
    { action: "set", items: [{ title: "one", status: "dropped" }] },
  ],
  ["opencode", "read", { filePath: "a" }, { path: "a" }],
  ["opencode", "edit", { filePath: "a", oldString: "x", newString: "y" }, { path: "a", oldText: "x", newText: "y" }],
  ["opencode", "bash", { command: "ls", timeout: 30 }, { command: "ls", timeoutMs: 30_000 }],
  ["opencode", "grep", { pattern: "x", include: "*.ts" }, { pattern: "x", glob: "*.ts" }],
  ["opencode", "websearch", { query: "x", numResults: 4 }, { query: "x", count: 4 }],
  ["pi", "edit", { path: "a", oldText: "x", newText: "y" }, { path: "a", oldText: "x", newText: "y" }],
  ["pi", "bash", { command: "ls", timeout: 600 }, { command: "ls", timeoutMs: 600_000 }],
  ["pi", "find", { pattern: "*.ts", path: "src" }, { pattern: "*.ts", path: "src" }],
];

test.each(understood)("the arguments of %s's %s %j are understood", (_, tool, given, meant) => {
  expect(parsed(tool, given)).toMatchObject({ value: meant });
});

test.each([
  ["Bash", { command: "ls", timeout: 30 }, ["timeout: 30 was read as timeoutMs: 30000"]],
  ["Bash", { command: "ls", timeout: 30_000 }, ["timeout: 30000 was read as timeoutMs: 30000"]],
  ["Bash", { command: "ls", description: "d", explanation: "e", reason: "r" }, []],
  ["Read", { path: "a", limit: 9_999 }, ["limit: 9999 was read as limit: 2000"]],
  ["Read", { file_path: "a", filePath: "a" }, []],
  ["Glob", { pattern: "*", "-n": true }, ['ignored: unknown argument "-n" (the arguments are pattern, path)']],
  ["LS", { path: ".", dir_path: "b" }, ['ignored: unknown argument "dir_path" (the arguments are path, depth)']],
])("%s %j is carried out, and the result says what was not read as written", (tool, given, notes) => {
  expect(parsed(tool, given)).toMatchObject({ notes });
});

test.each([
  ["Bash", { command: "ls", workdir: "/x" }, 'unknown argument "workdir" (the arguments are command, timeoutMs, back'],
  ["Write", { path: "a", content: "x", encoding: "utf8" }, 'unknown argument "encoding" (the arguments are path, con'],
  ["Write", { path: "a", file_path: "b", content: "x" }, 'unknown argument "file_path" (the arguments are path, con'],
  ["Edit", { path: "a", old_string: "x", new_string: "y", expected: 1, more: 2 }, 'arguments "expected", "more" (the'],
  ["Delete", { path: "a", force: true }, 'unknown argument "force" (the arguments are path, recursive)'],
  ["Read", { filee: "a" }, 'unknown argument "filee" (the arguments are path, offset, limit); path: '],
])("%s %j is refused with the names of its arguments", (tool, given, problem) => {
  expect(parsed(tool, given)).toEqual({ problem: expect.stringContaining(problem) });
});
