import { z } from "zod";
import { globMatcher } from "../../core/rules/glob.ts";
import { defineTool } from "../../core/task/tool.ts";
import { openInside, printableName, quoted } from "../../runtime/files/open-contained.ts";
import { readableRoot } from "../workspace/handed-root.ts";
import { withNearNames } from "../workspace/near-names.ts";
import { pathAliases } from "../workspace/path-aliases.ts";
import { folderAt, walk } from "../workspace/walk.ts";

const MOST_PATHS = 1_000;

const input = z.strictObject({
  pattern: z.string().min(1).max(1_000).describe("such as *.ts (at any depth), src/**/*.ts, {README,LICENSE}*"),
  path: z.string().min(1).optional().describe("folder to search"),
});

/** Finds files by name. */
export const glob = defineTool({
  name: "glob",
  description:
    "Finds files whose path matches a pattern with *, **, ?, [abc] and {a,b}, in path order. " +
    `Files that git ignores are left out. Shows at most ${MOST_PATHS}.`,
  input,
  aliases: { ...pathAliases, glob_pattern: "pattern", glob: "pattern", name: "pattern" },
  effect: "read",
  does: "read",
  subjects: ({ path = "." }) => [{ kind: "path", path, change: false }],
  timeoutMs: 30_000,
  async run({ pattern, path = "." }, context) {
    const { signal } = context;
    if (/(?:^|\/)\.\.(?:\/|$)/.test(pattern))
      throw new Error(`${quoted(pattern)} leads out of the folder: patterns match only files inside the folder`);
    const matches = globMatcher(pattern);
    const root = await readableRoot(context, path);
    const opened = await openInside(root, path).catch(withNearNames(root, path));
    await opened.handle.close();
    if (opened.kind === "file") throw new Error(`${quoted(path)} is a file: give the folder to search`);
    const skipped = opened.path === "" ? 0 : opened.path.length + 1;
    const found: string[] = [];
    for await (const entry of walk(root, await folderAt(root, opened.path), signal)) {
      if (entry.kind === "directory" || !matches(entry.path.slice(skipped))) continue;
      if (found.length === MOST_PATHS) {
        return `${found.join("\n")}\n[cut at ${MOST_PATHS} paths: use a narrower pattern, or a path]`;
      }
      found.push(printableName(entry.path));
    }
    return found.length > 0 ? found.join("\n") : `[no file matches ${quoted(pattern)}]`;
  },
});
