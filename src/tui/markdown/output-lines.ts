import { isRecord, parseJson } from "../../core/text/json.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { codeLines, markdownLines } from "./markdown.ts";
import type { MarkdownOptions } from "./options.ts";

/** Formats a result as Markdown, or as code if it is JSON. */
export function outputLines(output: string, options: MarkdownOptions): string[] {
  return isJson(output) ? codeLines(sanitize(output), "json", options) : markdownLines(output, options);
}

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    const value: unknown = parseJson(text);
    return isRecord(value) || Array.isArray(value);
  } catch {
    return false;
  }
}
