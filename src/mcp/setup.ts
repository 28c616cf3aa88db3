/** The file in which a program keeps its MCP servers, and the text to write to that file. */
export type SetupStep = Readonly<{ title: string; text: string }>;

/** The arguments with which a program starts subcrew's MCP server. */
const ARGS = ["mcp"];

const json = (value: unknown): string => JSON.stringify(value, null, 2);
const server = { command: "subcrew", args: ARGS };

/**
 * Creates the steps that connect subcrew to another agent program. `variables` are the environment variables that
 * subcrew needs.
 */
type Setup = (variables: readonly string[]) => readonly SetupStep[];

/** The setup steps of each program. A new program is one row. */
const setups = {
  // Without `alwaysLoad`, Claude Code does not wait for the server, and its model may begin without the tools of
  // subcrew.
  "claude-code": () => [
    {
      title: "In a terminal",
      text: `claude mcp add-json --scope user subcrew '${JSON.stringify({ type: "stdio", ...server, alwaysLoad: true })}'`,
    },
    {
      title: "Or in .mcp.json of a project",
      text: json({ mcpServers: { subcrew: { type: "stdio", ...server, alwaysLoad: true } } }),
    },
    {
      title: "To stop Claude Code from asking about each call, in ~/.claude/settings.json",
      text: json({ permissions: { allow: ["mcp__subcrew"] } }),
    },
  ],
  codex: (variables) => [
    {
      title:
        "In ~/.codex/config.toml (Codex passes only the variables of `env_vars` to the server, and asks about calls unless they are approved here)",
      text: [
        "[mcp_servers.subcrew]",
        'command = "subcrew"',
        'args = ["mcp"]',
        `env_vars = [${variables.map((name) => `"${name}"`).join(", ")}]`,
        "required = true",
        "startup_timeout_sec = 30",
        "tool_timeout_sec = 3600",
        'default_tools_approval_mode = "approve"',
      ].join("\n"),
    },
  ],
  cursor: () => [
    {
      title: "In ~/.cursor/mcp.json, or .cursor/mcp.json of a project",
      text: json({ mcpServers: { subcrew: server } }),
    },
  ],
  vscode: () => [
    { title: "In a terminal", text: `code --add-mcp '${JSON.stringify({ name: "subcrew", ...server })}'` },
    {
      title: "Or in .vscode/mcp.json of a project",
      text: json({ servers: { subcrew: { type: "stdio", ...server } } }),
    },
  ],
  gemini: (variables) => [
    {
      title:
        "In ~/.gemini/settings.json, or .gemini/settings.json of a project (Gemini CLI passes only the keys in `env` to the server)",
      text: json({
        mcpServers: {
          subcrew: {
            ...server,
            env: Object.fromEntries(variables.map((name) => [name, `$${name}`])),
            timeout: 3_600_000,
            trust: true,
          },
        },
      }),
    },
  ],
  opencode: () => [
    {
      title: "In ~/.config/opencode/opencode.json, or opencode.json of a project",
      text: json({
        mcp: { subcrew: { type: "local", command: ["subcrew", ...ARGS], enabled: true, timeout: 3_600_000 } },
      }),
    },
  ],
} as const satisfies Readonly<Record<string, Setup>>;

export type SetupName = keyof typeof setups;
export const setupNames = Object.keys(setups) as readonly SetupName[];

/** The setup steps for one program. */
export function setupSteps(name: SetupName, variables: readonly string[]): readonly SetupStep[] {
  return setups[name](variables);
}

/** The setup of one program as text, ready to copy. */
export function setupText(name: SetupName, variables: readonly string[]): string {
  return setupSteps(name, variables)
    .map(({ title, text }) => `${title}:\n\n${text.replace(/^/gm, "  ")}\n`)
    .join("\n");
}
