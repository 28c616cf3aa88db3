import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { artifactOf } from "./artifact-of.ts";
import type { Disk } from "./disk.ts";
import { replaceFile } from "./write-atomic.ts";

/** How long a text that this process used is not marked as used again. */
const MARKED_MS = 60 * 60 * 1_000;

/** Texts as files that are named by their hash. The time of a file says when its text was last kept. */
export type HashedTexts = Readonly<{
  keep(texts: ReadonlyMap<string, string>): Promise<void>;
  /** The texts of these hashes; a text that is missing or damaged is left out. */
  read(hashes: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Deletes the texts that were not kept since this time. */
  sweep(before: number): Promise<void>;
}>;

export function openHashedTexts(folder: string, disk: Disk): HashedTexts {
  const marked = new Map<string, number>();
  const fileOf = (hash: string): string => join(folder, `${hash}.json`);
  const textOf = async (hash: string): Promise<string | undefined> => {
    const text = await disk.readFile(fileOf(hash)).then(String, () => undefined);
    return text !== undefined && artifactOf(text).hash === hash ? text : undefined;
  };
  const keepOne = async (hash: string, text: string): Promise<void> => {
    const now = Date.now();
    if (now - (marked.get(hash) ?? Number.NEGATIVE_INFINITY) < MARKED_MS) return;
    if ((await textOf(hash)) === undefined) await replaceFile(fileOf(hash), text, disk);
    else await utimes(fileOf(hash), now / 1_000, now / 1_000).catch(() => {}); // a simulated disk has no times
    marked.set(hash, now);
  };
  return {
    keep: async (texts) => {
      await disk.mkdir(folder, { recursive: true, mode: 0o700 });
      await Promise.all([...texts].map(([hash, text]) => keepOne(hash, text)));
    },
    read: async (hashes) => {
      const all = await Promise.all(hashes.map(async (hash) => [hash, await textOf(hash)] as const));
      return new Map(all.flatMap(([hash, text]) => (text === undefined ? [] : [[hash, text] as const])));
    },
    sweep: async (before) => {
      for (const name of await disk.readdir(folder).catch(() => [])) {
        const kept = await disk.stat(join(folder, name)).catch(() => undefined);
        if (kept && kept.mtimeMs < before - MARKED_MS) await disk.rm(join(folder, name), { force: true });
      }
    },
  };
}
