import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { promisify } from "node:util";
import { openOrigin } from "./worktree.ts";

const run = promisify(execFile);

/** A separate repository that receives commits of other repositories; created empty on first use. */
export async function ownClone(folder: string, home: string | undefined): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ("unable" in (await openOrigin(folder, undefined, home)))
    await run("git", ["init", "--quiet", "--template=", folder], { env: { PATH: "/usr/local/bin:/usr/bin:/bin" } });
  return folder;
}
