import { once } from "node:events";
import type { Writable } from "node:stream";
import { isKept } from "../core/run/event.ts";
import type { Result } from "../core/run/result.ts";
import { jsonText } from "../core/text/json-text.ts";
import type { Run } from "../runtime/run/run.ts";

/**
 * A run as JSON lines: its events in order, then one line of type `result`. Deltas only when they are asked for.
 * It waits for a slow reader; a closed reader ends it.
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

/** One value on one line, also for readers that split at U+2028. */
export async function writeLine(out: Writable, value: unknown): Promise<void> {
  if (out.destroyed || out.writableEnded) return;
  if (out.write(`${jsonText(value)}\n`)) return;
  const heard = new AbortController(); // removes the listener for the other event once one of the two has come
  const { signal } = heard;
  await Promise.race([once(out, "drain", { signal }), once(out, "close", { signal })]).catch(() => {});
  heard.abort();
}
