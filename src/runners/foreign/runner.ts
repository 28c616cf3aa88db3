import type { Runner } from "../../core/task/runner.ts";
import { ACP, type AcpCommand, type ForeignName } from "../../core/vocabulary/runner-name.ts";
import type { ForeignParts } from "./hand-over.ts";
import { foreignTable } from "./table.ts";

/**
 * The runner for another agent program, by its name, or for a command that supports the Agent Client Protocol (ACP).
 */
export function foreignRunner(name: ForeignName | AcpCommand, parts: ForeignParts): Runner {
  return async (...task) => {
    if (isCommand(name)) return (await import("./acp.ts")).acpRunner(name.slice(ACP.length), parts)(...task);
    const { commandRunner } = await import("./command.ts");
    return commandRunner(name, await foreignTable[name](), parts)(...task);
  };
}

const isCommand = (name: ForeignName | AcpCommand): name is AcpCommand => name.startsWith(ACP);
