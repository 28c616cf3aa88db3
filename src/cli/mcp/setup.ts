import { suggestion } from "../../core/plan/check.ts";
import { CrewError } from "../../core/schema/error.ts";
import { type SetupName, setups, setupText } from "../../mcp/setup.ts";

/** Prints what to write where, so that another tool knows our server. */
export function printSetup(name: string): number {
  if (!Object.hasOwn(setups, name)) {
    const known = Object.keys(setups);
    throw new CrewError(
      "BAD_INPUT",
      `No setup instructions for "${name}".`,
      suggestion(name, known, "Setup instructions exist for"),
    );
  }
  process.stdout.write(setupText(name as SetupName));
  return 0;
}
