import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import { type Disk, machineDisk } from "./disk.ts";
import { fault } from "./fault-points.ts";
import { syncFolder } from "./sync-folder.ts";

/** Writes a file atomically and durably: readers see the old or the new text, also after a power cut. */
export async function writeAtomic(file: string, text: string | Uint8Array, disk: Disk = machineDisk): Promise<void> {
  const draft = join(dirname(file), `.${randomBytes(8).toString("hex")}.tmp`);
  try {
    fault("file.write");
    await disk.writeFile(draft, text, { flag: "wx", mode: 0o600, flush: true });
    fault("file.rename");
    await disk.rename(draft, file);
  } catch (error) {
    await disk.rm(draft, { force: true });
    throw error;
  }
  fault("file.renamed");
  await syncFolder(dirname(file), disk);
}

/** Replaces a file without syncing it, for data that can be created again. */
export async function replaceFile(file: string, text: string, disk: Disk = machineDisk): Promise<void> {
  const draft = join(dirname(file), `.${randomBytes(8).toString("hex")}.tmp`);
  try {
    await disk.writeFile(draft, text, { flag: "wx", mode: 0o600 });
    await disk.rename(draft, file);
  } catch (error) {
    await disk.rm(draft, { force: true });
    throw error;
  }
}

const DRAFT = /^\.[0-9a-f]{16}\.tmp$/;
/** The age after which a temporary file is treated as abandoned. */
const LEFT_MS = 60_000;

/** Deletes temporary files of processes that died while writing; `own`: a folder in which only this process writes. */
export async function removeDrafts(folder: string, own: string, disk: Disk = machineDisk): Promise<void> {
  const entries = await disk.readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  for (const entry of entries.filter(({ name }) => DRAFT.test(name))) {
    const parent = entry.parentPath ?? entry.path;
    const file = join(parent, entry.name);
    const { mtimeMs } = await disk.stat(file).catch(() => ({ mtimeMs: Date.now() }));
    if (parent === own || parent.startsWith(`${own}/`) || Date.now() - mtimeMs > LEFT_MS)
      await disk.rm(file, { force: true });
  }
}
