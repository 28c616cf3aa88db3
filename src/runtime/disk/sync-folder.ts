import { dirname } from "node:path";
import { type Disk, machineDisk } from "./disk.ts";

/** Makes what was created, renamed or removed in a folder survive a power cut. */
export async function syncFolder(folder: string, disk: Disk = machineDisk): Promise<void> {
  if (process.platform === "win32") return; // folders cannot be opened there, and need not be
  const handle = await disk.open(folder, "r");
  try {
    await handle.sync();
  } catch (error) {
    if (!isUnsupported(error)) throw error;
  } finally {
    await handle.close();
  }
}

/** Creates a private folder with its parents, durably. */
export async function makeFolder(folder: string, disk: Disk = machineDisk): Promise<void> {
  const first = await disk.mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = folder; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made), disk);
}

/** Some file systems cannot sync folders and do not need it. */
function isUnsupported(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EINVAL" || error.code === "ENOTSUP");
}
