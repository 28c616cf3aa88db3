import { isRecord } from "../text/json.ts";

/** What the record of a call says as data when the call started a task and did not wait for it: `run/path` of the task. */
export type BackgroundStart = Readonly<{ background: string }>;

/** The task that goes on by itself, if the call started one. */
export function backgroundStartIn(details: unknown): string | undefined {
  const task = isRecord(details) ? details["background"] : undefined;
  return typeof task === "string" ? task : undefined;
}
