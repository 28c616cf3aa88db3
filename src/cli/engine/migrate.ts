import { jsonText } from "../../core/text/json-text.ts";
import type { Flags } from "../base/flags.ts";
import { withEngine } from "./named-engine.ts";

/** The command `subcrew engine migrate`. */
export async function migrateEngine(flags: Flags): Promise<number> {
  return withEngine(flags, async (engine) => {
    const { steps, applied, roles, skipped } = await engine.migrate();
    if (skipped !== undefined)
      process.stderr.write(
        `The roles of workers, coordinators and readers were not created: ${skipped}. To use them, migrate with a login that may create roles.\n`,
      );
    if (flags.json) process.stdout.write(`${jsonText({ steps, applied, roles })}\n`);
    else if (steps.length === 0) process.stdout.write(`The tables are up to date (step ${applied}).\n`);
    else process.stdout.write(`${steps.map((step) => `applied: ${step}`).join("\n")}\n`);
    return 0;
  });
}
