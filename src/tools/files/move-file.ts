import { rename } from "node:fs/promises";
import { join, relative } from "node:path";
import { z } from "zod";
import { defineTool, type ToolContext } from "../../core/task/tool.ts";
import { folderContains } from "../../runtime/files/folder-contains.ts";
import { quoted, refusal, rootOf } from "../../runtime/files/open-contained.ts";
import { type ContainedPath, unwritable } from "../../runtime/files/write-contained.ts";
import { recordMove } from "../workspace/record-change.ts";
import { checkStill, checkUnchanged, hasForeignChange, remember, writablePath } from "../workspace/writable-path.ts";
import { contentsOf, pathsOf } from "./contents.ts";

const input = z.strictObject({
  from: z.string().min(1),
  to: z.string().min(1).describe("missing folders are created"),
  overwrite: z.boolean().optional(),
});

/** Moves or renames a file, a symbolic link or a folder. */
export const moveFile = defineTool({
  name: "move_file",
  description: "Moves or renames a file or folder. An existing file is kept, unless overwrite is set.",
  input,
  aliases: {
    source: "from",
    source_path: "from",
    old_path: "from",
    destination: "to",
    destination_path: "to",
    new_path: "to",
  },
  effect: "write",
  does: "write",
  // Agents may be allowed to read the new path, so the rules must allow reading the file itself.
  subjects: ({ from, to }) => [
    { kind: "path", path: from, change: true, itself: true },
    { kind: "path", path: from, change: false, itself: true },
    { kind: "path", path: to, change: true, itself: true },
  ],
  timeoutMs: 30_000,
  async run({ from, to, overwrite = false }, context) {
    const source = await writablePath(context, from, { itself: true });
    try {
      const stats = await source.stats();
      if (stats === undefined) throw new Error(`${quoted(from)} does not exist`);
      if (context.access?.closedIn(rootPath(source)).isClosed?.(source.path))
        throw refusal("DENIED", `${quoted(from)} may not be moved: this agent may not read it`);
      const target = await writablePath(context, to, { itself: true, make: true });
      try {
        if (folderContains(source.real, target.real) && stats.isDirectory())
          throw new Error(`${quoted(from)} cannot be moved into itself`);
        const there = await target.stats();
        if (there?.isDirectory()) throw new Error(`${quoted(to)} is a folder: give the whole new path`);
        if (there !== undefined && !overwrite)
          throw new Error(`${quoted(to)} already exists: set overwrite to replace it`);
        checkUnchanged(context, target, there);
        const root = await rootOf(rootPath(source));
        const entries = stats.isDirectory() ? await contentsOf(root, source.path, { ...context, movedTo: target }) : [];
        const inside = entries.map((entry) => pathsOf(root, entry));
        await recordMove(context, { from: source, to: target, inside });
        await checkStill(target, there);
        await rename(source.at(), target.at()).catch((error: unknown) => {
          throw unwritable(from, error);
        });
        const isForeign = hasForeignChange(context, source, stats);
        carryOver(context, { from: source.real, to: target.real });
        if (stats.isFile() && !isForeign) await remember(context, target);
        return `Moved ${quoted(source.path)} to ${quoted(target.path)}.`;
      } finally {
        await target.close();
      }
    } finally {
      await source.close();
    }
  },
});

/** Keeps what this task knows about moved files, so that a change by another process is still noticed. */
function carryOver({ access }: ToolContext, { from, to }: Readonly<{ from: string; to: string }>): void {
  for (const [file, look] of [...(access?.seen ?? [])])
    if (folderContains(from, file)) {
      access?.seen.set(join(to, relative(from, file)), look);
      access?.seen.delete(file);
    }
}

/** The allowed folder that contains the path. */
function rootPath({ real, path }: ContainedPath): string {
  return real.slice(0, real.length - path.length - 1) || "/";
}
