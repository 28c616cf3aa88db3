/** Which tool names a model sees: the names of subcrew (`canonical`), or the names of another agent program. */
export const toolNameStyles = ["canonical", "omp", "claude", "pi", "gemini"] as const;
export type ToolNameStyle = (typeof toolNameStyles)[number];

/**
 * Maps each canonical tool name to its name in each style. Tools without a row keep their name; the names of delegation
 * tools have a setting of their own.
 */
export const styledToolNames: Readonly<Record<ToolNameStyle, Readonly<Record<string, string>>>> = {
  canonical: {},
  omp: {
    read_file: "read",
    write_file: "write",
    edit_file: "edit",
    grep_files: "grep",
    glob: "find",
    list_files: "ls",
    http_get: "fetch",
  },
  claude: {
    read_file: "Read",
    write_file: "Write",
    edit_file: "Edit",
    grep_files: "Grep",
    glob: "Glob",
    list_files: "LS",
    bash: "Bash",
    bash_output: "BashOutput",
    kill_shell: "KillShell",
    http_get: "WebFetch",
    web_search: "WebSearch",
    todo: "TodoWrite",
    ask: "AskUserQuestion",
    skill: "Skill",
  },
  pi: {
    read_file: "read",
    write_file: "write",
    edit_file: "edit",
    grep_files: "grep",
    glob: "find",
    list_files: "ls",
  },
  gemini: {
    write_file: "write_file",
    edit_file: "replace",
    grep_files: "search_file_content",
    list_files: "list_directory",
    bash: "run_shell_command",
    http_get: "web_fetch",
    web_search: "google_web_search",
    memory_write: "save_memory",
    todo: "write_todos",
  },
};

/** The canonical name of a tool, from its name in one of the styles. */
export const unstyledToolName = (name: string): string | undefined => canonicalOf.get(name);

const canonicalOf: ReadonlyMap<string, string> = new Map(
  Object.values(styledToolNames).flatMap((names) =>
    Object.entries(names).map(([canonical, styled]): [string, string] => [styled, canonical]),
  ),
);
