import { lstat, rmdir, unlink } from "node:fs/promises";
import { relative } from "node:path";
import { z } from "zod";
import { defineTool, type ToolContext } from "../../core/task/tool.ts";
import { defined } from "../../core/text/defined.ts";
import { folderContains } from "../../runtime/files/folder-contains.ts";
import { quoted, rootOf } from "../../runtime/files/open-contained.ts";
import { type ContainedPath, unwritable } from "../../runtime/files/write-contained.ts";
import { recordRemoval } from "../workspace/record-change.ts";
import {
  changedSince,
  checkStill,
  checkUnchanged,
  hasForeignChange,
  writablePath,
} from "../workspace/writable-path.ts";
import { contentsOf, pathsOf } from "./contents.ts";
import { pathAliases } from "../workspace/path-aliases.ts";

const input = z.strictObject({
  path: z.string().min(1),
  recursive: z.boolean().optional(),
});

/** Deletes a file, a symbolic link (never its target) or a folder. */
export const deleteFile = defineTool({
  name: "delete_file",
  description: "Deletes a file, a link (never its target) or a folder. A folder that is not empty needs recursive.",
  input,
  aliases: pathAliases,
  effect: "write",
  does: "write",
  subjects: ({ path }) => [{ kind: "path", path, change: true, itself: true }],
  timeoutMs: 60_000,
  async run({ path, recursive = false }, context) {
    const spot = await writablePath(context, path, { itself: true });
    try {
      const stats = await spot.stats();
      if (stats === undefined) throw new Error(`${quoted(path)} does not exist`);
      if (!stats.isDirectory()) {
        checkUnchanged(context, spot, stats);
        await recordRemoval(context, [spot]);
        await checkStill(spot, stats);
        await unlink(spot.at()).catch(worded(spot));
        context.access?.seen.delete(spot.real);
        return `Deleted ${quoted(spot.path)}.`;
      }
      const count = recursive ? await clear(context, spot) : 0;
      if (!recursive) await recordRemoval(context, [spot]);
      await rmdir(spot.at()).catch(worded(spot));
      return recursive
        ? `Deleted the folder ${quoted(spot.path)} with ${count} ${count === 1 ? "entry" : "entries"} in it.`
        : `Deleted the empty folder ${quoted(spot.path)}.`;
    } finally {
      await spot.close();
    }
  },
});

/**
 * Deletes the content of a folder, deepest entries first. Each step opens the entry again and checks that it is still
 * inside of the folder.
 */
async function clear(context: ToolContext, { path, real, at }: ContainedPath): Promise<number> {
  const { cwd, signal, access } = context;
  const root = await rootOf(real.slice(0, real.length - path.length) || cwd);
  const entries = await contentsOf(root, path, { signal, ...defined({ access }) });
  const changed: string[] = [];
  for (const file of access?.seen.keys() ?? []) {
    const stats = folderContains(real, file) ? await lstat(file).catch(() => undefined) : undefined;
    if (stats?.isFile() && hasForeignChange(context, { real: file }, stats)) changed.push(relative(root.real, file));
  }
  if (changed.length > 0) throw changedSince(changed, "since you read it");
  await recordRemoval(context, [...entries.toReversed().map((entry) => pathsOf(root, entry)), { real, at }]);
  for (const { spot, folder } of entries.toReversed()) {
    signal.throwIfAborted();
    const opened = await spot();
    try {
      await (folder ? rmdir(opened.at()) : unlink(opened.at())).catch(worded(opened));
      access?.seen.delete(opened.real);
    } finally {
      await opened.close();
    }
  }
  return entries.length;
}

const worded =
  ({ path }: ContainedPath) =>
  (error: unknown): never => {
    throw unwritable(path, error);
  };
