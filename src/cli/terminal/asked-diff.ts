import { resolve } from "node:path";
import type { ToolCall } from "../../core/model/model.ts";
import { unifiedDiff } from "../../core/text/diff.ts";
import { isRecord } from "../../core/text/json.ts";
import { readRegularTextSync } from "../../runtime/disk/regular-file.ts";

/** The size above which a file is not read for a question. */
const MOST_BYTES = 2_000_000;
const FIELDS: ReadonlySet<string> = new Set(["path", "oldText", "newText", "replaceAll", "content"]);

/**
 * The diff of a tool call that changes a file, with context lines when the folder is known; `undefined` when there is
 * no diff to show.
 */
export function askedDiff({ input }: ToolCall, cwd: string): string | undefined {
  // A tool call with other arguments is shown completely: a diff must not hide what the call does.
  if (!isRecord(input) || !Object.keys(input).every((name) => FIELDS.has(name))) return undefined;
  const { oldText, newText, path, content } = input;
  if (content !== undefined && (oldText !== undefined || newText !== undefined)) return undefined;
  const name = typeof path === "string" ? path : "file";
  const now = typeof path === "string" && cwd !== "" ? textOf(resolve(cwd, path)) : undefined;
  if (typeof content === "string" && now !== undefined) return unifiedDiff(now, content, name) || undefined;
  if (typeof oldText !== "string" || typeof newText !== "string") return undefined;
  const at = oldText === "" ? -1 : (now?.indexOf(oldText) ?? -1);
  if (now === undefined || at < 0) return unifiedDiff(`${oldText}\n`, `${newText}\n`, name);
  const all = input["replaceAll"] === true;
  const changed = all
    ? now.replaceAll(oldText, () => newText)
    : now.slice(0, at) + newText + now.slice(at + oldText.length);
  return unifiedDiff(now, changed, name);
}

function textOf(file: string): string | undefined {
  try {
    return readRegularTextSync(file, MOST_BYTES);
  } catch {
    return undefined;
  }
}
