import { messageOf } from "../../core/schema/error.ts";
import { isRecord, JsonDepthError, parseJson, TOO_DEEP_JSON } from "../../core/text/json.ts";
import { createLineSplitter } from "../../runtime/channel/line-splitter.ts";

/** The maximum length of a line; a longer line is dropped. */
const LONGEST = 16_000_000;

/**
 * Parses JSON values from chunks; lines that are not JSON are skipped. The output of a program must not crash this
 * process: an error while a value is read goes to `failed`, and so does a value that is nested too deeply.
 */
export function jsonLines(
  take: (value: Readonly<Record<string, unknown>>) => void,
  failed: (why: string) => void,
): Readonly<{ push(text: string): void; end(): void }> {
  const line = (text: string): void => {
    const trimmed = text.trim();
    try {
      const value = trimmed.startsWith("{") ? parsed(trimmed) : undefined;
      if (value) take(value);
    } catch (error) {
      failed(error instanceof JsonDepthError ? `a line is ${TOO_DEEP_JSON}` : messageOf(error));
    }
  };
  const lines = createLineSplitter(line, { longest: LONGEST });
  return { push: lines.push, end: lines.end };
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = parseJson(text);
    return isRecord(value) ? value : undefined;
  } catch (error) {
    if (error instanceof JsonDepthError) throw error;
    return undefined;
  }
}
