import { relative, sep } from "node:path";
import type { ToolContext } from "../../core/task/tool.ts";
import { type Root, rootOf } from "../../runtime/files/open-contained.ts";

/** Where a file is that the task was told of, with everything beside it closed; `undefined`: it was not told of this one. */
export async function handedRoot({ access }: ToolContext, path: string): Promise<Root | undefined> {
  const { handed } = access ?? {};
  if (!handed?.files.has(path)) return undefined;
  const place = relative(handed.folder, path).split(sep).join("/");
  return rootOf(handed.folder, (inner) => inner !== place);
}
