import { dirname } from "node:path";
import { type Disk, machineDisk } from "./disk.ts";

/**
 * Makes created, renamed and removed entries of a folder survive a power cut. Requests during a sync of the folder
 * share the next sync, which covers all of them.
 */
export function syncFolder(folder: string, disk: Disk = machineDisk): Promise<void> {
  if (process.platform === "win32") return Promise.resolve(); // folders cannot be opened on Windows, and need no sync on it
  const all = syncs.get(disk) ?? new Map<string, FolderSyncs>();
  syncs.set(disk, all);
  const own = all.get(folder) ?? { running: undefined, next: undefined };
  all.set(folder, own);
  const begin = (): Promise<void> => {
    own.next = undefined;
    const sync = syncOnce(folder, disk).finally(() => {
      if (own.running !== sync) return;
      own.running = undefined;
      if (!own.next) all.delete(folder);
    });
    own.running = sync;
    return sync;
  };
  if (!own.running) return begin();
  return (own.next ??= own.running.then(begin, begin));
}

type FolderSyncs = { running: Promise<void> | undefined; next: Promise<void> | undefined };
const syncs = new WeakMap<Disk, Map<string, FolderSyncs>>();

async function syncOnce(folder: string, disk: Disk): Promise<void> {
  const handle = await disk.open(folder, "r");
  try {
    await handle.sync();
  } catch (error) {
    if (!isUnsupported(error)) throw error;
  } finally {
    await handle.close();
  }
}

/**
 * Makes a folder and its entries survive a power cut, even if another process created it and died before it synced: the
 * folders above it are synced, too. Folders that cannot be opened belong to other users and are left out.
 */
export async function syncFolderWithParents(folder: string, disk: Disk = machineDisk): Promise<void> {
  const above: string[] = [];
  for (let at = dirname(folder); at !== dirname(at); at = dirname(at)) above.push(at);
  await Promise.all([syncFolder(folder, disk), ...above.map((each) => syncFolder(each, disk).catch(() => {}))]);
}

/**
 * Creates a private folder with its parents. `durable` resolves when they survive a power cut; `undefined`: the folder
 * already existed.
 */
export async function makeFolder(
  folder: string,
  disk: Disk = machineDisk,
): Promise<Readonly<{ durable: Promise<unknown> }> | undefined> {
  const first = await disk.mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return undefined;
  const parents: string[] = [];
  for (let made = folder; made.length >= first.length; made = dirname(made)) parents.push(dirname(made));
  const durable = Promise.all(parents.map((parent) => syncFolder(parent, disk)));
  durable.catch(() => {}); // the code that awaits the promise handles the rejection
  return { durable };
}

/** True for an error of a file system that cannot sync folders and does not need it. */
function isUnsupported(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EINVAL" || error.code === "ENOTSUP");
}
