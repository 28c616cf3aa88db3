import { suggestion } from "../../core/plan/check.ts";
import { CrewError } from "../../core/schema/error.ts";
import { type SetupName, setups, setupText } from "../../mcp/setup.ts";

/** Prints what to write where, so that another tool knows our server. */
export function printSetup(name: string): number {
  if (!Object.hasOwn(setups, name)) {
    const known = Object.keys(setups);
    throw new CrewError(
      "BAD_INPUT",
      `There are no lines for "${name}".`,
      suggestion(name, known, "There are lines for"),
    );
  }
  process.stdout.write(setupText(name as SetupName));
  return 0;
}
