import type { Client, Pool, PoolClient } from "pg";
import { CrewError } from "../../core/schema/error.ts";

export type { Client, Pool, PoolClient };

/** The parts of the Postgres client library that the engine uses. */
export type PostgresDriver = Readonly<{ Pool: typeof Pool; Client: typeof Client }>;

/** Loads the Postgres client library, which is installed only where an engine is used. */
export async function loadDriver(): Promise<PostgresDriver> {
  try {
    const { default: driver } = await import("pg");
    return driver;
  } catch (cause) {
    throw new CrewError(
      "MISSING_PEER",
      "An engine on Postgres needs the Postgres client library.",
      "Install it beside subcrew: npm install pg, and for workers the library that `subcrew worker` names.",
      { cause },
    );
  }
}
