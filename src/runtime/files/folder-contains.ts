import { isAbsolute, relative, sep } from "node:path";

/**
 * Whether `path` is `folder` itself or lies below it. Both must be resolved already: symbolic links are not followed. A
 * sibling whose name begins with the name of the folder is outside.
 */
export function folderContains(folder: string, path: string): boolean {
  const steps = relative(folder, path);
  return steps !== ".." && !steps.startsWith(`..${sep}`) && !isAbsolute(steps);
}
