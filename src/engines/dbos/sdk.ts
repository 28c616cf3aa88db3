import type { DBOS, DBOSClient } from "@dbos-inc/dbos-sdk";
import { CrewError } from "../../core/schema/error.ts";

/** The parts of DBOS that the engine uses. */
export type DbosSdk = Readonly<{ DBOS: typeof DBOS; DBOSClient: typeof DBOSClient }>;

export type { DBOSClient };

/** The command that installs the libraries of an engine. */
export const INSTALL_ENGINE = "npm install pg @dbos-inc/dbos-sdk";

/** Loads DBOS, which is installed only where an engine is used. */
export async function loadDbos(): Promise<DbosSdk> {
  try {
    return await import("@dbos-inc/dbos-sdk");
  } catch (cause) {
    throw new CrewError(
      "MISSING_PEER",
      "An engine (--engine) with workers needs the DBOS library, which is not installed.",
      `Install the library beside subcrew: ${INSTALL_ENGINE}.`,
      { cause },
    );
  }
}
