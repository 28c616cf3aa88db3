import { z } from "zod";
import { defineTool } from "../../core/task/tool.ts";
import { type OpenedFile, openInside } from "../../runtime/files/open-contained.ts";
import { readableRoot, shownPath } from "../workspace/handed-root.ts";
import { isBinary, linesOf } from "../workspace/lines.ts";
import { withNearNames } from "../workspace/near-names.ts";
import { entriesOf } from "../workspace/walk.ts";
import { pathAliases } from "../workspace/path-aliases.ts";

const input = z.strictObject({
  path: z.string().min(1).describe("the file or folder, relative to the working folder"),
});

/** Shows kind, size, modification time and permissions of a path, without its content. */
export const getFileInfo = defineTool({
  name: "get_file_info",
  description:
    "Shows kind, size, modification time and permissions of a file or folder, and its number of lines or entries.",
  input,
  aliases: pathAliases,
  effect: "read",
  does: "read",
  subjects: ({ path }) => [{ kind: "path", path, change: false }],
  timeoutMs: 30_000,
  async run({ path }, context) {
    const { signal } = context;
    const root = await readableRoot(context, path);
    const opened = await openInside(root, path).catch(withNearNames(root, path));
    try {
      const content =
        opened.kind === "file"
          ? await contentOf(opened, signal)
          : `entries: ${(await entriesOf(root, { path: opened.path, ignore: undefined })).length}`;
      return [
        `path: ${shownPath(root, opened.path) || "."}`,
        `kind: ${opened.kind === "file" ? "file" : "folder"}`,
        ...(opened.kind === "file" ? [`size: ${opened.stats.size} bytes`] : []),
        content,
        `changed: ${opened.stats.mtime.toISOString()}`,
        `permissions: ${(opened.stats.mode & 0o777).toString(8).padStart(3, "0")}`,
      ].join("\n");
    } finally {
      await opened.handle.close();
    }
  },
});

/** The highest number of lines that is counted; beyond it, an exact number is not needed. */
const MOST_COUNTED = 10_000_000;

async function contentOf({ handle, stats }: OpenedFile, signal: AbortSignal): Promise<string> {
  if (await isBinary(handle)) return "content: binary";
  if (stats.size > MOST_COUNTED) return "content: text";
  let lines = 0;
  for await (const { last } of linesOf(handle, signal, Number.POSITIVE_INFINITY)) lines = last;
  return `content: text, ${lines} line${lines === 1 ? "" : "s"}`;
}
