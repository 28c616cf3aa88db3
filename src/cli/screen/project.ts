import { resolve, sep } from "node:path";

/**
 * True when a run that worked in `folder` belongs to the project at `project`: one of these folders contains the other.
 */
export function isBelowFolder(folder: string, project: string): boolean {
  const [a, b] = [resolve(folder) + sep, resolve(project) + sep];
  return folder !== "" && (a.startsWith(b) || b.startsWith(a));
}
