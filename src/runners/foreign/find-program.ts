import { realpathSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { folderContains } from "../../runtime/files/folder-contains.ts";
import { isProgram } from "../../runtime/disk/is-program.ts";

/** Finds a program by its absolute path or in PATH, but never in a folder that agents can write. */
export function findProgram(name: string, path: string | undefined, writable: readonly string[]): string | undefined {
  const places = isAbsolute(name)
    ? [name]
    : name.includes("/")
      ? []
      : (path ?? "")
          .split(delimiter)
          .filter((folder) => isAbsolute(folder))
          .map((folder) => join(folder, name));
  const isOutside = (file: string): boolean => !writable.some((root) => folderContains(root, file));
  return places.find((file) => isProgram(file) && isOutside(file) && isOutside(realpathSync.native(file)));
}
