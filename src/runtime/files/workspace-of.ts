import { realpath } from "node:fs/promises";
import type { JobWorkspace } from "../../core/task/job.ts";

/** The workspace that a folder is: two names of one folder are one workspace. */
export async function workspaceOf(folder: string): Promise<JobWorkspace> {
  const real = await realpath(folder).catch(() => folder);
  return { id: real.replaceAll("\\", "/") };
}
