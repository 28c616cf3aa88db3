import { closeSync, constants, createReadStream, fstatSync, openSync, readFileSync, writeSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

const NEVER_WAIT = (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
/** Flags for opening a file to read it. Opening does not block if the file is a pipe that no process writes. */
export const READ_FLAGS = constants.O_RDONLY | NEVER_WAIT;
/** Flags for opening a file to append to it. Opening does not block if the file is a pipe that no process reads. */
export const APPEND_FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | NEVER_WAIT;

/** Flags for opening a file to overwrite it. Opening does not block if the file is a pipe that no process reads. */
export const WRITE_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | NEVER_WAIT;

/** The size limit of `readRegularFile`; longer files are refused. */
const MOST_BYTES = 2 ** 30;

/** The size limit for settings, records and agent files, which are never longer. */
const MOST_TEXT_BYTES = 10_000_000;

/**
 * Reads a regular file. A pipe, a socket, a device or a folder is refused at once, so that such an entry in a searched
 * folder cannot block a command.
 */
export async function readRegularFile(path: string, most: number = MOST_BYTES): Promise<Buffer> {
  const handle = await open(path, READ_FLAGS);
  try {
    checkRegular(path, await handle.stat(), most);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** The text of a regular file of moderate length. */
export async function readRegularText(path: string, most: number = MOST_TEXT_BYTES): Promise<string> {
  return (await readRegularFile(path, most)).toString("utf8");
}

/** Like `readRegularText`, but synchronous. */
export function readRegularTextSync(path: string, most: number = MOST_TEXT_BYTES): string {
  return readRegularBytesSync(path, most).toString("utf8");
}

/** Like `readRegularFile`, but synchronous. */
export function readRegularBytesSync(path: string, most: number): Buffer {
  const descriptor = openSync(path, READ_FLAGS);
  try {
    checkRegular(path, fstatSync(descriptor), most);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * The text of a file that a person named on the command line: a regular file, or a file that the shell opened, as in
 * `--input <(command)`. Never more than `most` bytes.
 */
export async function readNamedFile(path: string, most: number = MOST_TEXT_BYTES): Promise<string> {
  if (!OPENED_BY_SHELL.test(path)) return readRegularText(path, most);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of createReadStream(path)) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > most) throw tooLong(path, most);
  }
  return Buffer.concat(chunks).toString("utf8");
}

const OPENED_BY_SHELL = /^\/(?:dev\/(?:fd\/\d+|stdin)|proc\/self\/fd\/\d+)$/;

/** Opens a regular file for reading; refuses everything that is not a regular file. */
export function openRegular(path: string): Promise<FileHandle> {
  return checked(path, open(path, READ_FLAGS));
}

/** Opens a regular file to add to its end, and creates it when it is missing. */
export function openAppend(path: string, mode = 0o600): Promise<FileHandle> {
  return checked(path, open(path, APPEND_FLAGS, mode));
}

/** Opens a regular file to replace its content, and creates it when it is missing. */
export function openAnew(path: string, mode = 0o666): Promise<FileHandle> {
  return checked(path, open(path, WRITE_FLAGS, mode));
}

/** Synchronously appends a short text to a regular file: once this returns, a crash of the process cannot undo it. */
export function appendRegularSync(path: string, text: string, mode = 0o600): void {
  const descriptor = openSync(path, APPEND_FLAGS, mode);
  try {
    checkRegular(path, fstatSync(descriptor), Number.POSITIVE_INFINITY);
    writeSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}

async function checked(path: string, opening: Promise<FileHandle>): Promise<FileHandle> {
  const handle = await opening;
  try {
    checkRegular(path, await handle.stat(), Number.POSITIVE_INFINITY);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Throws for anything that is not a regular file, or is longer than `most`. */
export function checkRegular(
  path: string,
  stats: Readonly<{ size: number; isFile(): boolean; isDirectory(): boolean }>,
  most: number,
): void {
  if (stats.isDirectory())
    throw Object.assign(new Error(`${path} is a folder, not a regular file`), { code: "EISDIR" });
  if (!stats.isFile()) throw Object.assign(new Error(`${path} is not a regular file`), { code: "EINVAL" });
  if (stats.size > most) throw tooLong(path, most);
}

const tooLong = (path: string, most: number): Error =>
  Object.assign(new Error(`${path} is longer than ${most} bytes`), { code: "EFBIG" });
