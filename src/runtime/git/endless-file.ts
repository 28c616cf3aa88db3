import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { words } from "../../core/text/words.ts";

/** Files in the folder of a repository that git reads completely, whatever their size and kind. */
const READ_WHOLE = words(`
  HEAD config config.worktree commondir gitdir shallow packed-refs index info/attributes info/exclude info/sparse-checkout info/grafts
  objects/info/alternates objects/info/http-alternates
`);
const MOST_BYTES = 2 ** 30;

/**
 * A file that git would read without end, or wait for: a pipe or a device in place of one of git's own files, or a file
 * of extreme length.
 */
export function endlessFile(gitDirs: readonly string[], named: readonly string[]): string | undefined {
  const files = [...new Set(gitDirs)].flatMap((folder) => READ_WHOLE.map((name) => join(folder, name)));
  return [...files, ...named.map((path) => resolve(path))].find(isEndless);
}

function isEndless(path: string): boolean {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined || stats.isDirectory()) return false; // git itself reports an error for such an entry
    return !stats.isFile() || stats.size > MOST_BYTES;
  } catch {
    return false; // git cannot open the file either
  }
}
