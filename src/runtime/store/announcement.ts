import { rmdirSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isCrewError } from "../../core/schema/error.ts";
import { fault } from "../disk/fault-points.ts";
import { livingClaim, whoWeAre } from "../disk/process-claim.ts";
import { WRITE_FLAGS } from "../disk/regular-file.ts";
import { cannotRecord } from "./journal.ts";
import { STARTING_FILE } from "./layout.ts";

/** Announces in the folder of a run that this process is about to start it; see `RunOwnership`. */
export async function announce(folder: string): Promise<() => Promise<void>> {
  const starting = join(folder, STARTING_FILE);
  const withdraw = async (): Promise<void> => {
    await rm(starting, { force: true });
    removeEmpty(folder); // only the folder of a run that never started is empty
  };
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    fault("place.take");
    await writeFile(starting, JSON.stringify(await whoWeAre()), { flag: WRITE_FLAGS, mode: 0o600 });
  } catch (error) {
    await withdraw().catch(() => {});
    throw isCrewError(error) ? error : cannotRecord(folder, error);
  }
  return async () => {
    fault("place.leave");
    await withdraw();
  };
}

/** True while a living process announces the run. */
export async function isAnnounced(folder: string): Promise<boolean> {
  const living = await livingClaim(join(folder, STARTING_FILE));
  return living !== undefined && living.host === undefined; // processes of other machines are not counted
}

/** Deletes the folder of a run if it has no content. */
export function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {} // the folder has content, or does not exist
}
