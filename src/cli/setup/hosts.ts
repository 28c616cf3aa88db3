import { existsSync } from "node:fs";
import { join } from "node:path";
import { readRegularTextSync } from "../../runtime/disk/regular-file.ts";
import type { SetupName } from "../../mcp/setup.ts";
import { findProgram } from "../../runners/foreign/find-program.ts";

/** A program that can use subcrew's MCP server. */
export type Host = Readonly<{ name: SetupName; registered: boolean; file: string }>;

/** For each host: the program, and the file below the home folder in which the program keeps its MCP servers. */
const HOSTS: Readonly<Record<SetupName, Readonly<{ program: string; file: string }>>> = {
  "claude-code": { program: "claude", file: ".claude.json" },
  codex: { program: "codex", file: ".codex/config.toml" },
  cursor: { program: "cursor", file: ".cursor/mcp.json" },
  vscode: { program: "code", file: ".config/Code/User/mcp.json" },
  gemini: { program: "gemini", file: ".gemini/settings.json" },
  opencode: { program: "opencode", file: ".config/opencode/opencode.json" },
};

/** The installed hosts, and whether subcrew is in their user settings. */
export function hostsHere(home: string, path: string | undefined): readonly Host[] {
  return (Object.entries(HOSTS) as [SetupName, (typeof HOSTS)[SetupName]][])
    .filter(([, { program, file }]) => findProgram(program, path, []) !== undefined || existsSync(join(home, file)))
    .map(([name, { file }]) => ({ name, file, registered: namesSubcrew(join(home, file)) }));
}

/**
 * The command with which a host starts subcrew's MCP server: `subcrew` when it is in PATH, otherwise the path of this
 * program.
 */
export function serverCommand(): Readonly<{ command: string; args: readonly string[] }> {
  if (findProgram("subcrew", process.env["PATH"], []) !== undefined) return { command: "subcrew", args: ["mcp"] };
  return { command: process.execPath, args: [process.argv[1] ?? "subcrew", "mcp"] };
}

function namesSubcrew(file: string): boolean {
  try {
    return /["[.]subcrew["\]]/.test(readRegularTextSync(file));
  } catch {
    return false;
  }
}
