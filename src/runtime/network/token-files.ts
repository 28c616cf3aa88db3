import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { readRegularText } from "../disk/regular-file.ts";
import { writeAtomic } from "../disk/write-atomic.ts";
import { parseJson } from "../../core/text/json.ts";

/** Stores access tokens between runs, mainly tokens from sign-ins. */
export type TokenFiles = Readonly<{
  /** The stored token; `undefined` if the file is missing or unreadable, so that the person signs in again. */
  read(key: string): Promise<unknown>;
  /** Writes a token; `undefined` deletes it. */
  write(key: string, value: object | undefined): Promise<void>;
}>;

/** Tokens in files of a folder, one file per token, that only the user can read. */
export function tokenFiles(folder: string): TokenFiles {
  const fileOf = (key: string): string => join(folder, `token-${key}.json`);
  return {
    read: async (key) => {
      try {
        return parseJson(await readRegularText(fileOf(key)));
      } catch {
        return undefined;
      }
    },
    write: async (key, value) => {
      if (!value) return rm(fileOf(key), { force: true });
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeAtomic(fileOf(key), JSON.stringify(value));
    },
  };
}
