import { messageOf } from "../../core/schema/error.ts";
import { isRecord } from "../../core/text/json.ts";
import { createLineSplitter } from "../../runtime/channel/line-splitter.ts";

/** The maximum length of a line; a longer one is dropped. */
const LONGEST = 16_000_000;

/**
 * Parses JSON values from chunks; lines that are not JSON are skipped. The output of a tool must not crash this
 * process: an error while a value is read goes to `failed`.
 */
export function jsonLines(
  take: (value: Readonly<Record<string, unknown>>) => void,
  failed: (why: string) => void,
): Readonly<{ push(text: string): void; end(): void }> {
  const line = (text: string): void => {
    const trimmed = text.trim();
    const value = trimmed.startsWith("{") ? parsed(trimmed) : undefined;
    if (!value) return;
    try {
      take(value);
    } catch (error) {
      failed(messageOf(error));
    }
  };
  const lines = createLineSplitter(line, { longest: LONGEST });
  return { push: lines.push, end: lines.end };
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
