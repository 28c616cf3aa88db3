import { parse, TomlError } from "smol-toml";
import { type Problem, problem } from "../../core/vocabulary/file-problem.ts";
import type { Data } from "./frontmatter.ts";

/** The data of a TOML file, or its syntax error. */
export type TomlResult = { readonly data: Data } | { readonly problem: Problem };

export function readToml(source: string): TomlResult {
  try {
    return { data: plain(parse(source), 0) as Data };
  } catch (error) {
    const line = error instanceof TomlError ? { line: error.line } : {};
    return { problem: problem("bad-toml", `The file is not valid TOML: ${firstLine(error)}`, line) };
  }
}

/** The line of a key or of a table in a TOML text, counted from 1. */
export function tomlLineOf(source: string, field: string): number | undefined {
  const at = source.split("\n").findIndex((line) => new RegExp(`^\\s*\\[?${escaped(field)}\\s*[=.\\]]`).test(line));
  return at === -1 ? undefined : at + 1;
}

/** Copies parsed data into objects without prototypes. */
function plain(value: unknown, depth: number): unknown {
  if (depth > 64) throw new Error("nested deeper than 64 levels");
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1));
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "bigint") return Number(value);
  if (value === null || typeof value !== "object") return value;
  const copy = Object.create(null) as Record<string, unknown>;
  for (const [key, item] of Object.entries(value)) copy[key] = plain(item, depth + 1);
  return copy;
}

const firstLine = (error: unknown): string => (error instanceof Error ? error.message.split("\n")[0]! : String(error));
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
