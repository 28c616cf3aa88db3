import { greet } from "../../mcp/start/greet.ts";
import type { CliCommand } from "../base/command.ts";

/** Flags with which `subcrew mcp` does something else than serve over standard input and output. */
const OTHERWISE = /^(--http|--setup(=.*)?|--help|-h)$/;

/** `subcrew mcp`. When a host started it, `initialize` is answered before the command is loaded. */
export async function greetedMcp(line: readonly string[] = []): Promise<CliCommand> {
  const [name, first = "-", ...more] = line;
  const serves = name === "mcp" && first.startsWith("-") && ![first, ...more].some((word) => OTHERWISE.test(word));
  const streams = serves && !process.stdin.isTTY ? greet(process.stdin, process.stdout) : undefined;
  await streams?.heard;
  return (await import("./mcp.ts")).mcpCommand(streams);
}
