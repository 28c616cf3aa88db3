import { jsonText } from "../../core/text/json-text.ts";
import { migrateDbos } from "../../engines/dbos/listen.ts";
import { migrate, schemaState } from "../../engines/postgres/migrate.ts";
import { ENGINE_ROLES, grantRoles } from "../../engines/roles.ts";
import type { Flags } from "../base/flags.ts";
import { withEngine } from "./named-engine.ts";

/** The command `subcrew engine migrate`. */
export async function migrateEngine(flags: Flags): Promise<number> {
  return withEngine(flags, async (database) => {
    const steps = await migrate(database);
    await migrateDbos(database.url);
    const roles = await grantRoles(database);
    const { applied } = await schemaState(database);
    if ("skipped" in roles)
      process.stderr.write(
        `The roles of workers, coordinators and readers were not created: ${roles.skipped}. To use them, migrate with a login that may create roles.\n`,
      );
    if (flags.json)
      process.stdout.write(
        `${jsonText({ steps, applied, roles: "skipped" in roles ? [] : Object.values(ENGINE_ROLES) })}\n`,
      );
    else if (steps.length === 0) process.stdout.write(`The tables are up to date (step ${applied}).\n`);
    else process.stdout.write(`${steps.map((step) => `applied: ${step}`).join("\n")}\n`);
    return 0;
  });
}
