import { type Dirent, existsSync, mkdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { copyFile, link, readdir, readlink, rm, stat, writeFile } from "node:fs/promises";
import { type DiskFile, openFile } from "./open-file.ts";
import { openRegular, readRegularFile } from "./regular-file.ts";

/**
 * The file system calls that journals, ownership of runs and outputs use, with the meaning of `node:fs`. They are a
 * parameter, so that tests can simulate a disk that is slow, full or loses power.
 */
export type Disk = Readonly<{
  open(path: string, flags: "a" | "r", mode?: number): Promise<DiskFile>;
  /** Opens a regular file to read it from an offset, by default its start, to its end. */
  openToRead(path: string, from?: number): Promise<DiskReader>;
  readFile(path: string): Promise<Buffer>;
  readlink(path: string): Promise<string>;
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
  /** The inode number of the file that is at this path now. */
  inodeSync(path: string): number | undefined;
}>;

/** A file that is read in order. */
export type DiskReader = Readonly<{
  /** Reads the next bytes into a buffer; 0 at the end. */
  read(into: Buffer, offset: number, length: number): Promise<Readonly<{ bytesRead: number }>>;
  close(): Promise<void>;
}>;

type Entry = Pick<Dirent, "name" | "parentPath" | "path">;

/** The maximum length of data that is written synchronously; the thread pool writes longer data. */
const SHORT = 1 << 16;

/** The disk of this machine. Short operations that need not wait for the disk are synchronous; see `openFile`. */
export const machineDisk: Disk = {
  open: openFile,
  openToRead: async (path, from = 0) => {
    const file = await openRegular(path);
    let at = from;
    const read: DiskReader["read"] = async (into, offset, length) => {
      const { bytesRead } = await file.read(into, offset, length, at);
      at += bytesRead;
      return { bytesRead };
    };
    return { read, close: () => file.close() };
  },
  readFile: (path) => readRegularFile(path),
  readlink: (path) => readlink(path),
  writeFile: async (path, text, how) =>
    how.flush || text.length > SHORT ? writeFile(path, text, how) : writeFileSync(path, text, how),
  copyFile,
  rename: async (from, to) => renameSync(from, to),
  link,
  rm,
  stat,
  mkdir: async (path, how) => mkdirSync(path, how),
  readdir,
  existsSync,
  inodeSync: (path) => statSync(path, { throwIfNoEntry: false })?.ino,
};
