import { greet } from "../../mcp/start/greet.ts";
import type { CliCommand } from "../base/command.ts";

/** With one of these, nothing is served on standard input and output. */
const OTHERWISE = /^(--http|--setup(=.*)?|--help|-h)$/;

/** `subcrew mcp`. Where a host has started it, that host is greeted before the command is loaded. */
export async function greetedMcp(line: readonly string[] = []): Promise<CliCommand> {
  const [name, first = "-", ...more] = line;
  const serves = name === "mcp" && first.startsWith("-") && ![first, ...more].some((word) => OTHERWISE.test(word));
  const streams = serves && !process.stdin.isTTY ? greet(process.stdin, process.stdout) : undefined;
  await streams?.heard;
  return (await import("./mcp.ts")).mcpCommand(streams);
}
