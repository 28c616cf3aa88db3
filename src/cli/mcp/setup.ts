import { suggestion } from "../../core/plan/check.ts";
import { CrewError } from "../../core/schema/error.ts";
import { type SetupName, setupNames, setupText } from "../../mcp/setup.ts";
import { variablesToPass } from "../base/host-variables.ts";

/**
 * Prints the settings with which another program starts the MCP server of subcrew, and the path of the file for them.
 */
export function printSetup(name: string): number {
  if (!setupNames.includes(name as SetupName))
    throw new CrewError(
      "BAD_INPUT",
      `No setup instructions for "${name}".`,
      suggestion(name, setupNames, "Setup instructions exist for"),
    );
  process.stdout.write(setupText(name as SetupName, variablesToPass(process.env)));
  return 0;
}
