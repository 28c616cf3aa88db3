import { lstatSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { isOpened, readAsks, readBans } from "../../core/policy/judge-call.ts";
import type { Policy } from "../../core/policy/policy.ts";
import { readLimits } from "../../core/policy/read-limits.ts";
import type { ClosedInFolder, FileIdentity, LocatedSubject } from "../../core/rules/call-subject.ts";
import { closedByName, closedPaths } from "../files/closed-paths.ts";
import { type Root, rootOf } from "../files/open-contained.ts";
import { type ClosedPlaces, createLinkCheck } from "../files/secret-places.ts";
import type { AccessParts } from "./crew-access.ts";

type ClosedTo = Readonly<{
  tool: string;
  /** The files and folders that the call names. */
  judged: readonly LocatedSubject[];
  policy: Policy;
  placeOf(absolute: string): string;
  shut: ClosedPlaces;
  /** Whether a file is another name of a file that a rule forbids to read. */
  isBannedLink(file: FileIdentity): Promise<boolean>;
}>;

/**
 * Finds hard links to files in these folders that rules forbid to read. In very large folders it does not search, and
 * finds no links.
 */
export function bannedLinks(
  policy: Policy,
  folders: readonly string[],
  placeOf: ClosedTo["placeOf"],
): ClosedTo["isBannedLink"] {
  if (readBans(policy) === undefined) return async () => false;
  return createLinkCheck(() => [
    ...closedByName(policy),
    ...folders.flatMap((folder) => {
      try {
        return closedPaths(policy, folder, placeOf);
      } catch {
        return [];
      }
    }),
  ]);
}

/** Predicates for forbidden paths in a folder; absent where nothing can be forbidden, so that entries need no check. */
export function closedIn(
  folder: string,
  { tool, judged, policy, placeOf, shut, isBannedLink }: ClosedTo,
): ClosedInFolder {
  const bans = readBans(policy);
  const asks = readAsks(policy, tool, judged);
  const limits = readLimits(policy, tool);
  const touched = shut.touches(folder);
  return {
    ...((bans !== undefined || asks !== undefined || limits !== undefined || touched) && {
      isClosed: (inner) => {
        const absolute = inner === "" ? folder : join(folder, inner);
        const place = placeOf(absolute);
        if (bans?.(place) || asks?.(place) || limits?.(place, () => isDirectory(absolute))) return true;
        const closed = touched ? shut.at(absolute) : undefined;
        return closed !== undefined && !isOpened(policy, tool, { place, closed });
      },
    }),
    isClosedFile: async (file) => (await shut.linked(file)) !== undefined || (await isBannedLink(file)),
  };
}

const isDirectory = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** The files that the context of a run may show: files of the workspace and its repository, without forbidden files. */
export type ContextAccess = Readonly<{
  root: Root;
  homes: readonly string[];
  closedIn(folder: string): ClosedInFolder;
}>;

export async function contextAccess({ cwd, policy, homes, closed: shut }: AccessParts): Promise<ContextAccess> {
  const root = await rootOf(cwd);
  const placeOf = (absolute: string): string => relative(root.real, absolute).split(sep).join("/");
  const isBannedLink = bannedLinks(policy, [root.real], placeOf);
  const inFolder = (folder: string): ClosedInFolder =>
    closedIn(folder, { tool: "read_file", judged: [], policy, placeOf, shut, isBannedLink });
  return { root: { ...root, ...inFolder(root.real) }, homes, closedIn: inFolder };
}
