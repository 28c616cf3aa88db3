import { relative, sep } from "node:path";
import type { ToolContext } from "../../core/task/tool.ts";
import { type Root, rootOf } from "../../runtime/files/open-contained.ts";

/**
 * A root folder through which exactly one output file of the run can be opened; all other files in it are forbidden.
 * `undefined`: the task may not read this file.
 */
export async function handedRoot({ access }: ToolContext, path: string): Promise<Root | undefined> {
  const { handed } = access ?? {};
  if (!handed?.files.has(path)) return undefined;
  const place = relative(handed.folder, path).split(sep).join("/");
  return rootOf(handed.folder, (inner) => inner !== place);
}
