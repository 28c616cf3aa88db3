import { closeSync, fdatasync, fstatSync, fsync, ftruncateSync, openSync, write, writeSync } from "node:fs";
import { promisify } from "node:util";
import { APPEND_FLAGS, checkRegular, READ_FLAGS } from "./regular-file.ts";

/** An open file. */
export type DiskFile = Readonly<{
  write(bytes: Uint8Array, offset: number): Promise<Readonly<{ bytesWritten: number }>>;
  /** Writes synchronously; absent if this disk does not support that. */
  writeSync?(bytes: Uint8Array, offset: number): number;
  /** Resolves once the written data is safely on the disk. */
  datasync(): Promise<void>;
  sync(): Promise<void>;
  truncate(length: number): Promise<void>;
  stat(): Promise<Readonly<{ size: number; ino: number }>>;
  close(): Promise<void>;
}>;

const [datasync, sync, writeLater] = [promisify(fdatasync), promisify(fsync), promisify(write)];

/** The length above which a write goes through the thread pool, so that other work continues. */
const SHORT_BYTES = 1 << 16;

/**
 * Opens a file to append to it, or a folder to sync it. Only operations that wait for the disk use the thread pool:
 * opening, closing and a short write into the cache of the system take microseconds, ten times less than a call through
 * the pool.
 */
export async function openFile(path: string, flags: "a" | "r", mode = 0o600): Promise<DiskFile> {
  const descriptor = openSync(path, flags === "a" ? APPEND_FLAGS : READ_FLAGS, mode);
  try {
    if (flags === "a") checkRegular(path, fstatSync(descriptor), Number.POSITIVE_INFINITY);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return fileOf(descriptor);
}

/**
 * Wraps a file descriptor. The descriptor is closed only once and not used afterwards, because its number may then
 * belong to another file.
 */
function fileOf(descriptor: number): DiskFile {
  let isClosed = false;
  const open = (): number => {
    if (isClosed) throw Object.assign(new Error("The file is closed."), { code: "EBADF" });
    return descriptor;
  };
  return {
    write: async (bytes, offset) =>
      bytes.length - offset <= SHORT_BYTES
        ? { bytesWritten: writeSync(open(), bytes, offset) }
        : writeLater(open(), bytes, offset, bytes.length - offset, null),
    writeSync: (bytes, offset) => writeSync(open(), bytes, offset),
    datasync: async () => datasync(open()),
    sync: async () => sync(open()),
    truncate: async (length) => ftruncateSync(open(), length),
    stat: async () => fstatSync(open()),
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      closeSync(descriptor);
    },
  };
}
