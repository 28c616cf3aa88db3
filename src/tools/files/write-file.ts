import { z } from "zod";
import { defineTool } from "../../core/task/tool.ts";
import { unifiedDiff } from "../../core/text/diff.ts";
import { openInside, quoted } from "../../runtime/files/open-contained.ts";
import { lookOf, replace, type ContainedPath } from "../../runtime/files/write-contained.ts";
import { pathAliases } from "../workspace/path-aliases.ts";
import { recordWrite } from "../workspace/record-change.ts";
import { changedSince, checkUnchanged, remember, rootOfCall, writablePath } from "../workspace/writable-path.ts";

const MOST_CHARS = 10_000_000;
/** Files with more characters than this are not compared line by line. */
const MOST_COMPARED = 500_000;

const input = z.strictObject({
  path: z.string().min(1).describe("missing folders are created"),
  content: z.string().max(MOST_CHARS),
});

/** Writes a whole text file: creates it, or replaces its content. */
export const writeFile = defineTool({
  name: "write_file",
  description:
    "Writes a whole text file, new or in place of an existing one. To change a part use edit_file. Shows a diff.",
  input,
  aliases: { ...pathAliases, contents: "content", file_text: "content", text: "content" },
  effect: "write",
  does: "write",
  subjects: ({ path }) => [{ kind: "path", path, change: true }],
  timeoutMs: 30_000,
  async diff({ path, content }, context) {
    const before = content.length > MOST_COMPARED ? undefined : await textOf({ path }, await rootOfCall(context, path));
    return before === undefined ? undefined : unifiedDiff(before, content, path) || undefined;
  },
  async run({ path, content }, context) {
    const spot = await writablePath(context, path, { make: true });
    try {
      const stats = await spot.stats();
      checkUnchanged(context, spot, stats);
      const before = stats?.isFile() ? await textOf(spot, await rootOfCall(context, path)) : undefined;
      await recordWrite(context, spot, content);
      if (!(await replace(spot, content, lookOf(stats)))) throw changedSince([spot.path], "just now");
      await remember(context, spot);
      return told(spot.path, before, content, stats !== undefined);
    } finally {
      await spot.close();
    }
  },
});

async function textOf(
  { path }: Pick<ContainedPath, "path">,
  root: Awaited<ReturnType<typeof rootOfCall>>,
): Promise<string | undefined> {
  const { handle, stats } = await openInside(root, path);
  try {
    return stats.size > MOST_COMPARED ? undefined : await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

function told(path: string, before: string | undefined, content: string, existed: boolean): string {
  const lines = content === "" ? 0 : content.replace(/\n$/, "").split("\n").length;
  const size = `${lines} line${lines === 1 ? "" : "s"}`;
  if (!existed) return `Created ${quoted(path)} with ${size}.`;
  if (before === undefined || content.length > MOST_COMPARED) return `Wrote ${quoted(path)}: ${size}.`;
  return before === content
    ? `${quoted(path)} already had this content.`
    : `Wrote ${quoted(path)}: ${size}.\n${unifiedDiff(before, content, path)}`;
}
