import { statSync } from "node:fs";
import { dirname } from "node:path";
import type { HiddenPlaces } from "../files/secret-places.ts";

/**
 * The hidden places in a form in which bubblewrap (the sandbox program) can mount over them. In its own user namespace
 * even root cannot enter some folders of other users, and nothing below such a folder can be mounted over. So the
 * folder is hidden as a whole.
 */
export function mountablePlaces({ folders, files }: HiddenPlaces): HiddenPlaces {
  if (process.getuid?.() !== 0) return { folders, files };
  const closed = closedFolders();
  const [all, left] = [new Set<string>(), new Set<string>()];
  for (const path of folders) all.add(closed(path) ?? path);
  for (const path of files) {
    const folder = closed(path);
    if (folder === undefined) left.add(path);
    else all.add(folder);
  }
  return { folders: [...all], files: [...left] };
}

/** Finds the highest folder above a path that this user could not enter without the rights of root. */
function closedFolders(): (path: string) => string | undefined {
  const known = new Map<string, string | undefined>();
  const groups = new Set([process.getgid?.(), ...(process.getgroups?.() ?? [])]);
  const look = (path: string): string | undefined => {
    const folder = dirname(path);
    if (folder === path) return undefined;
    if (known.has(folder)) return known.get(folder);
    const found = look(folder) ?? (isClosed(folder, groups) ? folder : undefined);
    known.set(folder, found);
    return found;
  };
  return look;
}

function isClosed(folder: string, groups: ReadonlySet<number | undefined>): boolean {
  try {
    const { uid, gid, mode } = statSync(folder);
    // in its namespace, bubblewrap keeps the rights of root over files of root
    return uid !== 0 && (mode & (groups.has(gid) ? 0o010 : 0o001)) === 0;
  } catch {
    return false; // the folder no longer exists, nor does the place below it
  }
}
