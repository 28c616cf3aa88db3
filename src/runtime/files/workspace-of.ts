import { realpath } from "node:fs/promises";
import type { JobWorkspace } from "../../core/task/job.ts";

/** The id of the workspace at a folder: two paths of one folder give the same id. */
export async function workspaceOf(folder: string): Promise<JobWorkspace> {
  const real = await realpath(folder).catch(() => folder);
  return { id: real.replaceAll("\\", "/") };
}
