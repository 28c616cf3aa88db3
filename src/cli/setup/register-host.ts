import { mkdir } from "node:fs/promises";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../../core/schema/error.ts";
import { isRecord, parseJson } from "../../core/text/json.ts";
import type { SetupName } from "../../mcp/setup.ts";
import { readRegularText } from "../../runtime/disk/regular-file.ts";
import { writeAtomic } from "../../runtime/disk/write-atomic.ts";
import type { Host, serverCommand } from "./hosts.ts";

type HostCommand = ReturnType<typeof serverCommand>;

/** The result of a registration: the changed file, or the problem that prevented the change. */
export type Registration = Readonly<{ file: string; backup?: string }> | Readonly<{ problem: string }>;

/**
 * The settings entry of each host (a program that can use subcrew's MCP server) that keeps its servers in JSON: the key
 * of the table, and the value under subcrew's name. The entry does not allow calls without asking; `mcp --setup` prints
 * the lines for that, and a person copies them.
 */
const ENTRIES: Readonly<
  Record<
    Exclude<SetupName, "codex">,
    Readonly<{ key: string; entry(how: HostCommand, variables: readonly string[]): unknown }>
  >
> = {
  "claude-code": { key: "mcpServers", entry: (how) => ({ type: "stdio", ...how, alwaysLoad: true }) },
  cursor: { key: "mcpServers", entry: (how) => how },
  vscode: { key: "servers", entry: (how) => ({ type: "stdio", ...how }) },
  gemini: {
    key: "mcpServers",
    entry: (how, variables) => ({
      ...how,
      env: Object.fromEntries(variables.map((name) => [name, `$${name}`])),
      timeout: 3_600_000,
    }),
  },
  opencode: {
    key: "mcp",
    entry: ({ command, args }) => ({ type: "local", command: [command, ...args], enabled: true, timeout: 3_600_000 }),
  },
};

/**
 * Adds subcrew to the MCP servers in the user settings of a host. The rest of the file is kept, and a backup of it is
 * written beside it. A file with an unexpected format is not changed.
 */
export async function registerHost(
  host: Host,
  home: string,
  how: HostCommand,
  variables: readonly string[],
): Promise<Registration> {
  const file = join(home, host.file);
  try {
    const text = existsSync(file) ? await readRegularText(file) : "";
    const after = host.name === "codex" ? withToml(text, how, variables) : withJson(text, host.name, how, variables);
    if (after === undefined) return { problem: `${file} cannot be changed without losing comments or other content` };
    await mkdir(dirname(file), { recursive: true });
    const backup = `${file}.before-subcrew`;
    if (text !== "") await writeAtomic(backup, text);
    await writeAtomic(file, after);
    return { file, ...(text !== "" && { backup }) };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

function withToml(text: string, { command, args }: HostCommand, variables: readonly string[]): string {
  const lines = [
    "[mcp_servers.subcrew]",
    `command = ${JSON.stringify(command)}`,
    `args = ${JSON.stringify(args)}`,
    `env_vars = ${JSON.stringify(variables)}`,
    "required = true",
    "startup_timeout_sec = 30",
    "tool_timeout_sec = 3600",
  ];
  return `${text === "" ? "" : `${text.trimEnd()}\n\n`}${lines.join("\n")}\n`;
}

/**
 * Adds an entry to a JSON text. Returns `undefined` when the text is not plain JSON, for example because it has
 * comments.
 */
function withJson(
  text: string,
  name: Exclude<SetupName, "codex">,
  how: HostCommand,
  variables: readonly string[],
): string | undefined {
  const { key, entry } = ENTRIES[name];
  const value = text.trim() === "" ? {} : parsed(text);
  if (!isRecord(value)) return undefined;
  const servers = value[key] ?? {};
  if (!isRecord(servers)) return undefined;
  return `${JSON.stringify({ ...value, [key]: { ...servers, subcrew: entry(how, variables) } }, null, 2)}\n`;
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
