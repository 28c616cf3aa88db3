import { type Dirent, existsSync, statSync, writeSync } from "node:fs";
import { copyFile, type FileHandle, link, mkdir, open, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { openAppend, READ_FLAGS, readRegularFile } from "./regular-file.ts";

/** A file that is open. */
export type DiskFile = Readonly<{
  write(bytes: Uint8Array, offset: number): Promise<Readonly<{ bytesWritten: number }>>;
  /** The same in this turn of the event loop; absent: this disk cannot. */
  writeSync?(bytes: Uint8Array, offset: number): number;
  /** Resolves once the written data is durable. */
  datasync(): Promise<void>;
  sync(): Promise<void>;
  truncate(length: number): Promise<void>;
  stat(): Promise<Readonly<{ size: number; ino: number }>>;
  close(): Promise<void>;
}>;

/**
 * The file system calls for journal, claims and outputs. They mean the same as in `node:fs`. Handed
 * in, so that a simulation can put a disk of its own there that is slow, full or cut off from its power.
 */
export type Disk = Readonly<{
  open(path: string, flags: "a" | "r", mode?: number): Promise<DiskFile>;
  readFile(path: string): Promise<Buffer>;
  writeFile(
    path: string,
    text: string | Uint8Array,
    how: Readonly<{ flag: "wx"; mode: number; flush?: boolean }>,
  ): Promise<void>;
  copyFile(from: string, to: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  link(from: string, to: string): Promise<void>;
  rm(path: string, how: Readonly<{ force: true }>): Promise<void>;
  stat(path: string): Promise<Readonly<{ mtimeMs: number }>>;
  mkdir(path: string, how: Readonly<{ recursive: true; mode: number }>): Promise<string | undefined>;
  readdir(path: string): Promise<string[]>;
  readdir(path: string, how: Readonly<{ withFileTypes: true; recursive: true }>): Promise<Entry[]>;
  existsSync(path: string): boolean;
  /** The inode number of the file that has this name now. */
  inodeSync(path: string): number | undefined;
}>;

type Entry = Pick<Dirent, "name" | "parentPath" | "path">;

const appended = (file: FileHandle): DiskFile => ({
  write: (bytes, offset) => file.write(bytes, offset),
  writeSync: (bytes, offset) => writeSync(file.fd, bytes, offset),
  datasync: () => file.datasync(),
  sync: () => file.sync(),
  truncate: (length) => file.truncate(length),
  stat: () => file.stat(),
  close: () => file.close(),
});

/** The disk of this machine. */
export const machineDisk: Disk = {
  open: (path, flags, mode) => (flags === "a" ? openAppend(path, mode).then(appended) : open(path, READ_FLAGS)),
  readFile: (path) => readRegularFile(path),
  writeFile,
  copyFile,
  rename,
  link,
  rm,
  stat,
  mkdir,
  readdir,
  existsSync,
  inodeSync: (path) => statSync(path, { throwIfNoEntry: false })?.ino,
};
