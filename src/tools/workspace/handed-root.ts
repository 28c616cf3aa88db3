import { basename, dirname, join } from "node:path";
import type { ToolContext } from "../../core/task/tool.ts";
import { printableName, type Root, rootOf } from "../../runtime/files/open-contained.ts";
import { rootOfCall } from "./writable-path.ts";

/** The root of a path that a tool reads: a folder of the task, or the folder of an output file that the task may read. */
export async function readableRoot(context: ToolContext, path: string): Promise<ReadableRoot> {
  return (await handedRoot(context, path)) ?? (await rootOfCall(context, path));
}

/** `handed`: an output file of the run, whose path is shown in full. */
export type ReadableRoot = Root & Readonly<{ handed?: true }>;

/**
 * A root folder through which exactly one output file of the run can be opened; all other files in it are forbidden.
 * `undefined`: the task may not read this file.
 */
async function handedRoot({ access }: ToolContext, path: string): Promise<ReadableRoot | undefined> {
  const { handed } = access ?? {};
  if (!handed?.files.has(path)) return undefined;
  return { ...(await rootOf(dirname(path), (inner) => inner !== basename(path))), handed: true };
}

/** The name of a file below a root in the result of a tool. */
export const shownPath = ({ given, handed }: ReadableRoot, path: string): string =>
  printableName(handed ? join(given, path) : path);
