import { isRecord } from "../../core/text/json.ts";

/** The maximum length of a line; a longer one is dropped. */
const LONGEST = 16_000_000;

/** Parses JSON values from chunks; other text goes to `other`. */
export function jsonLines(
  take: (value: Readonly<Record<string, unknown>>) => void,
  other: (line: string) => void,
): Readonly<{ push(text: string): void; end(): void }> {
  let rest = "";
  const line = (text: string): void => {
    const trimmed = text.trim();
    if (trimmed === "") return;
    const value = trimmed.startsWith("{") ? parsed(trimmed) : undefined;
    if (value) take(value);
    else other(trimmed);
  };
  return {
    push: (text) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > LONGEST) rest = "";
      lines.forEach(line);
    },
    end: () => {
      line(rest);
      rest = "";
    },
  };
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
