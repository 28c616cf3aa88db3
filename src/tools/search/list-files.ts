import { z } from "zod";
import { defineTool } from "../../core/task/tool.ts";
import { openInside, printableName, quoted, type Root } from "../../runtime/files/open-contained.ts";
import { readableRoot } from "../workspace/handed-root.ts";
import { withNearNames } from "../workspace/near-names.ts";
import { pathAliases } from "../workspace/path-aliases.ts";
import { entriesOf, type Folder, type FolderEntry, folderAt } from "../workspace/walk.ts";

const MOST_ENTRIES = 1_000;

const input = z.strictObject({
  path: z.string().min(1).optional().describe("folder"),
  depth: z.int().min(1).max(20).optional().describe("levels to show; default 2"),
});

/** Shows a folder as a tree. */
export const listFiles = defineTool({
  name: "list_files",
  description:
    "Lists a folder as an indented tree: folders end with /, links with @. " +
    `Files that git ignores are left out. Shows at most ${MOST_ENTRIES} entries, upper levels first.`,
  input,
  aliases: pathAliases,
  effect: "read",
  does: "read",
  subjects: ({ path = "." }) => [{ kind: "path", path, change: false }],
  timeoutMs: 30_000,
  async run({ path = ".", depth = 2 }, context) {
    const { signal } = context;
    const root = await readableRoot(context, path);
    const opened = await openInside(root, path).catch(withNearNames(root, path));
    await opened.handle.close();
    if (opened.kind === "file") throw new Error(`${quoted(path)} is a file: use read_file to see what is in it`);
    const { tree, left } = await levels(root, await folderAt(root, opened.path), { depth, signal });
    if (tree.length === 0) return "[the folder is empty, or git ignores all of it]";
    const notice = left
      ? `\n[cut at ${MOST_ENTRIES} entries: call list_files with a path inside, or with a smaller depth]`
      : "";
    return `${printed(tree).join("\n")}${notice}`;
  },
});

type Branch = Readonly<{ entry: FolderEntry; below: Branch[] }>;
type Levels = Readonly<{ depth: number; signal: AbortSignal }>;

/** Walks level by level. If the limit is reached, deep entries are left out, and entries near the top are listed. */
async function levels(
  root: Root,
  start: Folder,
  { depth, signal }: Levels,
): Promise<{ tree: Branch[]; left: boolean }> {
  const tree: Branch[] = [];
  let count = 0;
  let level: { folder: Folder; into: Branch[] }[] = [{ folder: start, into: tree }];
  for (let at = 0; at < depth && level.length > 0; at++) {
    const next: typeof level = [];
    for (const { folder, into } of level) {
      signal.throwIfAborted();
      for (const entry of await entriesOf(root, folder)) {
        if (count++ === MOST_ENTRIES) return { tree, left: true };
        const branch: Branch = { entry, below: [] };
        into.push(branch);
        if (entry.kind === "directory") next.push({ folder: entry, into: branch.below });
      }
    }
    level = next;
  }
  return { tree, left: false };
}

const MARKS: Readonly<Record<FolderEntry["kind"], string>> = {
  file: "",
  directory: "/",
  link: "@",
  other: " (not a file)",
};

function printed(branches: readonly Branch[], indent = ""): string[] {
  return branches.flatMap(({ entry, below }) => [
    `${indent}${printableName(entry.name)}${MARKS[entry.kind]}`,
    ...printed(below, `${indent}  `),
  ]);
}
