import { readRegularFile } from "../disk/regular-file.ts";
import { join } from "node:path";
import { z } from "zod";
import { CrewError } from "../../core/schema/error.ts";
import { parseAs } from "../../core/schema/parse.ts";
import { writeAtomic } from "../disk/write-atomic.ts";

const FILE = "request.json";

/** What a background run is asked to do. It holds no secret: those are in the environment of its process. */
const request = z.strictObject({
  version: z.literal(1),
  id: z.string(),
  at: z.number(),
  /** Absent: the run exists and is resumed. */
  plan: z.unknown().optional(),
  /** What holds for the run as a whole. */
  options: z.record(z.string(), z.unknown()),
  /** The flags from which the process makes its crew. */
  crew: z.record(z.string(), z.unknown()),
  /** Approves every gate (--yes). */
  yes: z.boolean().optional(),
});
export type BackgroundRequest = z.infer<typeof request>;

/** Writes the request beside the journal of the run. */
export async function writeRequest(folder: string, asked: BackgroundRequest): Promise<void> {
  await writeAtomic(join(folder, FILE), `${JSON.stringify(asked)}\n`);
}

/** Reads the request of a run. */
export async function readRequest(folder: string): Promise<BackgroundRequest> {
  const text = await readRegularFile(join(folder, FILE))
    .then(String)
    .catch(() => {
      throw new CrewError("UNKNOWN_RUN", `There is no run request in ${folder}.`, "Start it again with --bg.");
    });
  return parseAs<BackgroundRequest>(request, JSON.parse(text) as unknown, { code: "BAD_FILE", what: FILE });
}

/** True for a run that was started in the background. */
export async function isRequested(folder: string): Promise<boolean> {
  return readRegularFile(join(folder, FILE)).then(
    () => true,
    () => false,
  );
}
