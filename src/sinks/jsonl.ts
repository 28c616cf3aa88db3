import { once } from "node:events";
import type { Writable } from "node:stream";
import { isKept } from "../core/run/kept-event.ts";
import type { Result } from "../core/run/result.ts";
import { jsonText } from "../core/text/json-text.ts";
import type { Run } from "../runtime/run/run.ts";

/**
 * Writes a run as JSON lines: its events in order, then one line of type `result`. Pieces of live text are written only
 * on request. This waits for a slow reader and ends when the reader closes its end.
 */
export async function writeJsonLines(
  run: Run,
  out: Writable,
  { deltas = false }: { deltas?: boolean } = {},
): Promise<Result> {
  for await (const event of run) if (deltas || isKept(event)) await writeLine(out, event);
  const result = await run;
  await writeLine(out, { type: "result", ...result });
  return result;
}

/** Writes one value on one line. U+2028 is escaped, because some readers split lines there. */
export async function writeLine(out: Writable, value: unknown): Promise<void> {
  if (out.destroyed || out.writableEnded) return;
  if (out.write(`${jsonText(value)}\n`)) return;
  // after the first of the two events, this removes the listener of the other event
  const heard = new AbortController();
  const { signal } = heard;
  await Promise.race([once(out, "drain", { signal }), once(out, "close", { signal })]).catch(() => {});
  heard.abort();
}
