import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** Longer files are not read whole. */
const MOST_BYTES = 2 ** 30;

/**
 * Reads a regular file. A pipe, a socket, a device or a folder is refused at once instead of being waited for: what others put
 * where we look must not hang a command.
 */
export async function readRegularFile(path: string, most: number = MOST_BYTES): Promise<Buffer> {
  const handle = await open(path, FLAGS);
  try {
    checkRegular(path, await handle.stat(), most);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** Opens a regular file for reading, and nothing else. */
export async function openRegular(path: string): Promise<FileHandle> {
  const handle = await open(path, FLAGS);
  try {
    checkRegular(path, await handle.stat(), Number.POSITIVE_INFINITY);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The text of a regular file, read at once; refuses what {@link readRegularFile} refuses. */
export function readRegularText(path: string, most: number = MOST_TEXT_BYTES): string {
  const descriptor = openSync(path, FLAGS);
  try {
    checkRegular(path, fstatSync(descriptor), most);
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

/** Settings and agent files are not longer. */
const MOST_TEXT_BYTES = 10_000_000;

function checkRegular(path: string, stats: Readonly<{ size: number; isFile(): boolean }>, most: number): void {
  if (!stats.isFile()) throw Object.assign(new Error(`${path} is not a regular file`), { code: "EINVAL" });
  if (stats.size > most) throw Object.assign(new Error(`${path} is longer than ${most} bytes`), { code: "EFBIG" });
}
