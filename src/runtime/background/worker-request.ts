import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { CrewError } from "../../core/schema/error.ts";
import { parseAs } from "../../core/schema/parse.ts";
import { writeAtomic } from "../disk/write-atomic.ts";

const FILE = "request.json";

/** What a worker in the background is asked to do. It holds no secret: those are in the worker's environment. */
const request = z.strictObject({
  version: z.literal(1),
  id: z.string(),
  at: z.number(),
  /** Absent: the run is there already, and is to be taken up again. */
  plan: z.unknown().optional(),
  /** What holds for the run as a whole. */
  options: z.record(z.string(), z.unknown()),
  /** What the crew is made of, in the words of whoever asks. */
  crew: z.record(z.string(), z.unknown()),
  /** Whatever asks for approval gets it. */
  yes: z.boolean().optional(),
});
export type BackgroundRequest = z.infer<typeof request>;

/** Writes down what a worker has to do, beside the journal it will write. */
export async function writeRequest(folder: string, asked: BackgroundRequest): Promise<void> {
  await writeAtomic(join(folder, FILE), `${JSON.stringify(asked)}\n`);
}

/** What a worker has to do. */
export async function readRequest(folder: string): Promise<BackgroundRequest> {
  const text = await readFile(join(folder, FILE), "utf8").catch(() => {
    throw new CrewError("UNKNOWN_RUN", `Nothing was asked for in ${folder}.`, "Start it again with --bg.");
  });
  return parseAs<BackgroundRequest>(request, JSON.parse(text) as unknown, { code: "BAD_FILE", what: FILE });
}

/** True for a run that was started in the background. */
export async function isRequested(folder: string): Promise<boolean> {
  return readFile(join(folder, FILE)).then(
    () => true,
    () => false,
  );
}
