import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { relative, resolve } from "node:path";
import type { HomeAnchor, LocalPlaces } from "../../core/policy/protected-paths.ts";
import { folderContains } from "../files/folder-contains.ts";
import { createConfiguredFiles } from "./configured-files.ts";

/** The places in a folder that are protected because of the person's home folder and git configuration. */
export function localPlaces(
  folder: string,
  { home, env }: Readonly<{ home: string | undefined; env: Readonly<Record<string, string | undefined>> }>,
): LocalPlaces {
  const homes = homeFolders(home);
  const real = realOf(folder);
  return { homes: homeAnchors(real, homes), configured: createConfiguredFiles({ homes, env }).below(real) };
}

/** The home folders that are protected: the given home folder and the home folder of the system, as real paths. */
export const homeFolders = (home: string | undefined): string[] => [
  ...new Set([...(home === undefined ? [] : [home]), homedir()].map(realOf)),
];

/** For each home folder: how to convert a path relative to `folder` to a path relative to that home folder. */
export function homeAnchors(folder: string, homes: readonly string[]): HomeAnchor[] {
  return homes.flatMap((home) => {
    if (folderContains(folder, home)) return [{ cut: relative(folder, home), add: "" }];
    return folderContains(home, folder) ? [{ cut: "", add: relative(home, folder) }] : [];
  });
}

/** The real path of a folder, or the path itself if it does not exist. */
export function realOf(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    return resolve(folder);
  }
}
