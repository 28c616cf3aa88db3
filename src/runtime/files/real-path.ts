import { realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** The real path: symbolic links in the existing part are resolved, and the rest is appended as written. */
export function realPathOf(path: string): string {
  const wanted = resolve(path);
  try {
    return realpathSync.native(wanted);
  } catch {
    return wanted === dirname(wanted)
      ? wanted
      : join(realPathOf(dirname(wanted)), wanted.slice(dirname(wanted).length));
  }
}
