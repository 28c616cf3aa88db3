import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readBanPatterns, readBans } from "../../core/policy/judge-call.ts";
import type { Policy } from "../../core/policy/policy.ts";

const MOST = 50_000;

/**
 * The paths below a folder that rules forbid to read, to hide them from commands. Throws when the folder is too large
 * to be searched completely: a partly enforced rule would be worse than no rule.
 */
export function closedPaths(policy: Policy, root: string, placeOf: (absolute: string) => string): string[] {
  const isClosed = readBans(policy);
  if (!isClosed) return [];
  const closed: string[] = [];
  const folders = [root];
  let seen = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesIn(folder)) {
      const path = join(folder, entry.name);
      if (++seen > MOST)
        throw new Error(
          `the working folder contains more than ${MOST} entries, too many to hide the forbidden ones from commands`,
        );
      if (entry.isSymbolicLink()) continue;
      if (isClosed(placeOf(path))) closed.push(path);
      else if (entry.isDirectory()) folders.push(path);
    }
  }
  return closed;
}

/** Forbidden absolute paths; patterns with wildcards are searched in folders instead. */
export function closedByName(policy: Policy): string[] {
  return readBanPatterns(policy)
    .map((pattern) => pattern.replace(/\/(?:\*\*)?$/, ""))
    .filter((pattern) => pattern.startsWith("/") && !/[*?[\]{}\\]/.test(pattern));
}

function entriesIn(folder: string): ReturnType<typeof readEntries> {
  try {
    return readEntries(folder);
  } catch {
    return []; // a folder that cannot be listed does not show its files to commands either
  }
}

const readEntries = (folder: string) => readdirSync(folder, { withFileTypes: true });
