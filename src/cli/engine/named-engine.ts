import { CrewError } from "../../core/schema/error.ts";
import { INSTALL_ENGINE } from "../../engines/dbos/sdk.ts";
import { type Database, openDatabase } from "../../engines/postgres/database.ts";
import type { Flags } from "../base/flags.ts";
import { crewFor } from "../launch/start.ts";

/** The URL of the engine, from the flag or the settings. */
export async function engineUrl(flags: Pick<Flags, "engine">): Promise<string> {
  const url = flags.engine ?? (await crewFor({})).settings.config.engine;
  if (url !== undefined) return url;
  throw new CrewError(
    "BAD_INPUT",
    "No engine is named.",
    "Add --engine postgres://..., or set `engine` in the settings; `subcrew engine dev` starts an engine on this machine.",
  );
}

/** Opens the database of the engine, passes it to `work`, and closes it. */
export async function withEngine<T>(
  flags: Pick<Flags, "engine">,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = openDatabase(await engineUrl(flags), { install: INSTALL_ENGINE });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
