import { once } from "node:events";
import type { Writable } from "node:stream";
import { isKept } from "../core/event.ts";
import type { Result } from "../core/result.ts";
import type { Run } from "../runtime/run.ts";

/**
 * A run as JSON lines: its events in order, then one line of type `result`. Deltas only when they are asked for.
 * A reader that is slow is waited for; one that went away ends it.
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

/** One value in one line, whoever splits it: what some readers take for a line end or a command is escaped. */
export async function writeLine(out: Writable, value: unknown): Promise<void> {
  if (out.destroyed || out.writableEnded) return;
  const line = JSON.stringify(value).replace(
    TROUBLE,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  if (!out.write(`${line}\n`)) await Promise.race([once(out, "drain"), once(out, "close")]).catch(() => {});
}

const TROUBLE = /[\x7f-\x9f\u2028\u2029]/g;
