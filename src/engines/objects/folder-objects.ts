import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readRegularFile } from "../../runtime/disk/regular-file.ts";
import { writeAtomic } from "../../runtime/disk/write-atomic.ts";
import type { ObjectStore } from "../postgres/artifacts.ts";

/** Stores large results as files in a folder that all processes of the engine share. */
export function folderObjects(folder: string): ObjectStore {
  const fileOf = (hash: string): string => join(folder, hash.slice(0, 2), hash);
  return {
    place: fileOf,
    put: async (hash, body) => {
      await mkdir(dirname(fileOf(hash)), { recursive: true, mode: 0o700 });
      await writeAtomic(fileOf(hash), body);
    },
    get: (hash) =>
      readRegularFile(fileOf(hash), MOST_BYTES).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      }),
    remove: (hash) => rm(fileOf(hash), { force: true }),
  };
}

const MOST_BYTES = 2 ** 31;
