import { z } from "zod";
import type { RunStore } from "../../core/run/run-store.ts";
import { CrewError } from "../../core/schema/error.ts";
import { parseAs } from "../../core/schema/parse.ts";
import { DEEPEST_RECORD, parseJson } from "../../core/text/json.ts";

/**
 * The request for a background run: what its process should execute. It contains no secrets; secrets are in the
 * environment of its process.
 */
const request = z.strictObject({
  version: z.literal(1),
  id: z.string(),
  at: z.number(),
  /** The plan to execute; absent: an existing run is resumed. */
  plan: z.unknown().optional(),
  /** Options of the run as a whole. */
  options: z.record(z.string(), z.unknown()),
  /** The command-line flags from which the process creates its crew. */
  crew: z.record(z.string(), z.unknown()),
});
export type BackgroundRequest = z.infer<typeof request>;

/** Stores the request beside the records of the run. */
export async function writeRequest(store: RunStore, asked: BackgroundRequest): Promise<void> {
  await store.setDocument(asked.id, "request", `${JSON.stringify(asked)}\n`);
}

/** Reads the request for a background run. */
export async function readRequest(store: RunStore, run: string): Promise<BackgroundRequest> {
  const text = await store.document(run, "request");
  if (text === undefined)
    throw new CrewError(
      "UNKNOWN_RUN",
      `The background run cannot start: its request is missing in ${store.place(run)}.`,
      "Start the run again with --bg.",
    );
  return parseAs<BackgroundRequest>(request, parseJson(text, DEEPEST_RECORD), {
    code: "BAD_FILE",
    what: "run request",
  });
}

/** True for a run that was started in the background. */
export async function isRequested(store: RunStore, run: string): Promise<boolean> {
  return (await store.document(run, "request")) !== undefined;
}
