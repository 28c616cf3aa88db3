import { type Dirent, readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { secretFinder } from "../../core/policy/secret-paths.ts";
import { words } from "../../core/text/words.ts";
import { realPathOf } from "../files/real-path.ts";
import { alternatesOf } from "./alternates.ts";

/** The entries of a git directory through which commits, names of files and branches are read. */
const ENTRIES = words(`
  . HEAD FETCH_HEAD ORIG_HEAD config config.worktree commondir index logs objects objects/info objects/pack packed-refs refs refs/heads refs/tags shallow
`);
/** The folders of a git directory in which single files can be links to the data of another repository. */
const SEARCHED = words("objects refs logs info reftable");
/** Maximum number of folders with objects, and of entries that are searched for links. */
const MOST_STORES = 100;
const MOST_ENTRIES = 300_000;

/**
 * Why a repository is not used: its data is in a secret place although its work tree is elsewhere, or there are too many
 * folders and files to find that out. A `.git` that leads to `~/.password-store/.git`, as a whole or with single files,
 * would show the files of that place as commits, differences and worktrees of the project.
 */
export function secretData(top: string, gitDirs: readonly string[], homes: readonly string[]): string | undefined {
  const known = new Set([homedir(), ...homes].flatMap((path) => [path, realPathOf(path)]));
  const secretAt = secretFinder([...known], []);
  const chosen = secretAt(realPathOf(top)); // the secret place that contains the work tree: the person chose to work in it
  const own = [...new Set(gitDirs)];
  const stores = objectStores(own.map((folder) => join(folder, "objects")));
  const links = stores && linksIn([...own.flatMap((folder) => SEARCHED.map((name) => join(folder, name))), ...stores]);
  if (links === undefined) return "it has too many objects, branches or alternates to be checked";
  const place = [...own.flatMap((folder) => ENTRIES.map((name) => join(folder, name))), ...stores!, ...links]
    .map(realPathOf)
    .map(secretAt)
    .find((each) => each !== undefined && each !== chosen);
  return place && `its data is in a secret place (${place}), but its work tree is not`;
}

/** The folders with further objects (alternates) that these name, directly or through others; `undefined`: too many. */
function objectStores(first: readonly string[]): string[] | undefined {
  const stores = [...first];
  for (const store of stores) {
    // Git resolves a relative path from the real place of the folder that names it.
    const named = alternatesOf(store)?.map((path) => resolve(realPathOf(store), path));
    if (named === undefined) return undefined;
    stores.push(...new Set(named.filter((path) => !stores.includes(path))));
    if (stores.length > MOST_STORES) return undefined;
  }
  return stores;
}

/** The symbolic links in these folders, at any depth, also behind other links; `undefined`: there are too many entries. */
function linksIn(folders: readonly string[]): string[] | undefined {
  const links: string[] = [];
  const open = folders.map(realPathOf);
  const seen = new Set(open);
  let left = MOST_ENTRIES;
  for (const folder of open) {
    const entries = entriesOf(folder);
    left -= entries.length;
    if (left < 0) return undefined;
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isSymbolicLink()) links.push(path);
      const inner = entry.isSymbolicLink() ? folderBehind(path) : entry.isDirectory() ? path : undefined;
      if (inner === undefined || seen.has(inner)) continue;
      seen.add(inner);
      open.push(inner);
    }
  }
  return links;
}

function folderBehind(link: string): string | undefined {
  try {
    return statSync(link).isDirectory() ? realPathOf(link) : undefined;
  } catch {
    return undefined; // the link leads nowhere, or to a place that git cannot reach either
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // the folder does not exist, or git cannot read it either
  }
}
