import { z } from "zod";
import type { ToolContext } from "../../core/task/tool.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import {
  MAX_KEY_CHARS,
  type Memory,
  type MemoryEntry,
  type MemoryInfo,
  type MemoryOrigin,
} from "../../runtime/ledgers/memory.ts";
import type { ToolParts } from "../parts/tool-parts.ts";

/** The parameters that all memory tools share. */
export const scope = z
  .enum(["project", "user"])
  .optional()
  .describe("notes of this project (default), or of the user for all projects");
export const key = z.string().min(1).max(MAX_KEY_CHARS).describe("the name of the note; a name, not a path");

/** The memory, or an error that says why there is none. */
export function memoryOf({ memory }: ToolParts): Memory {
  if (memory) return memory;
  throw new Error("notes are not stored here: the user can set a home folder");
}

/** The author to store with a note. */
export function originOf({ run, path, agent, cwd }: ToolContext): MemoryOrigin {
  return { by: `${run}/${path} (${agent})`, project: cwd };
}

/** One line that describes a note, with its authors. */
export function about({ key: name, revision, at, bytes, origins }: MemoryInfo): string {
  const [last, ...earlier] = origins;
  const before = earlier.length === 0 ? "" : `, before that by ${earlier.map(({ by }) => by).join(", ")}`;
  return sanitize(
    `${name}: revision ${revision}, ${bytes} bytes, written ${at} by ${last?.by ?? "an unknown author"} in ${last?.project ?? "?"}${before}`,
  ).replaceAll("\n", " ");
}

/** The message to the agent after a note was changed. */
export function changed({ key: name, revision, bytes }: MemoryEntry): string {
  return `"${name}" is saved: revision ${revision}, ${bytes} bytes.`;
}
