/** Where a tool keeps the servers it knows, and what to write there. */
export type SetupStep = Readonly<{ title: string; text: string }>;

/** How `subcrew mcp` is called. */
const ARGS = ["mcp"];

const json = (value: unknown): string => JSON.stringify(value, null, 2);
const server = { command: "subcrew", args: ARGS };

/** Every tool for which there are lines to copy. A new one is one row. */
export const setups = {
  "claude-code": [
    { title: "In a terminal", text: "claude mcp add --scope user subcrew -- subcrew mcp" },
    { title: "Or in .mcp.json of a project", text: json({ mcpServers: { subcrew: { type: "stdio", ...server } } }) },
  ],
  codex: [
    { title: "In a terminal", text: "codex mcp add subcrew -- subcrew mcp" },
    {
      title: "Or in ~/.codex/config.toml",
      text: '[mcp_servers.subcrew]\ncommand = "subcrew"\nargs = ["mcp"]\ntool_timeout_sec = 3600',
    },
  ],
  cursor: [
    {
      title: "In ~/.cursor/mcp.json, or .cursor/mcp.json of a project",
      text: json({ mcpServers: { subcrew: server } }),
    },
  ],
  vscode: [
    { title: "In a terminal", text: `code --add-mcp '${JSON.stringify({ name: "subcrew", ...server })}'` },
    {
      title: "Or in .vscode/mcp.json of a project",
      text: json({ servers: { subcrew: { type: "stdio", ...server } } }),
    },
  ],
  gemini: [
    { title: "In a terminal", text: "gemini mcp add --scope user subcrew subcrew mcp" },
    {
      title: "Or in ~/.gemini/settings.json, or .gemini/settings.json of a project",
      text: json({ mcpServers: { subcrew: { ...server, timeout: 3_600_000 } } }),
    },
  ],
  opencode: [
    {
      title: "In ~/.config/opencode/opencode.json, or opencode.json of a project",
      text: json({ mcp: { subcrew: { type: "local", command: ["subcrew", ...ARGS], enabled: true } } }),
    },
  ],
} as const satisfies Readonly<Record<string, readonly SetupStep[]>>;

export type SetupName = keyof typeof setups;

/** The lines for one tool, ready to copy. */
export function setupText(name: SetupName): string {
  return setups[name].map(({ title, text }) => `${title}:\n\n${text.replace(/^/gm, "  ")}\n`).join("\n");
}
