import { isRecord } from "../text/json.ts";

/** Structured result of a tool call that started a background task: `run/path` of the task. */
export type BackgroundStart = Readonly<{ background: string }>;

/** The background task; `undefined` if the tool call did not start any. */
export function backgroundStartIn(details: unknown): string | undefined {
  const task = isRecord(details) ? details["background"] : undefined;
  return typeof task === "string" ? task : undefined;
}
