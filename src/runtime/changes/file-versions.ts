import { createHash } from "node:crypto";
import { mkdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readRegularFile } from "../disk/regular-file.ts";
import { writeAtomic } from "../disk/write-atomic.ts";

/** The contents of files that a run changed, each stored once under its hash. */
export type FileVersions = Readonly<{
  /** Stores the content of a file; returns its hash. */
  keep(content: Uint8Array): Promise<string>;
  /** The stored content with this hash; `undefined` when it is missing. */
  read(hash: string): Promise<Buffer | undefined>;
}>;

/** Opens the stored versions of files in a folder. */
export function openFileVersions(folder: string): FileVersions {
  const fileOf = (hash: string): string => join(folder, hash.slice(0, 2), hash);
  return {
    keep: async (content) => {
      const hash = hashOf(content);
      const file = fileOf(hash);
      const isKnown = await stat(file).then(
        ({ size }) => size === content.length,
        () => false,
      );
      if (!isKnown) {
        await mkdir(dirname(file), { recursive: true, mode: 0o700 });
        await writeAtomic(file, content);
      }
      return hash;
    },
    read: async (hash) => {
      if (!/^[0-9a-f]{64}$/.test(hash)) return undefined;
      const content = await readRegularFile(fileOf(hash)).catch(() => undefined);
      return content !== undefined && hashOf(content) === hash ? content : undefined;
    },
  };
}

export const hashOf = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex");
