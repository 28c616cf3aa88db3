import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { secretFinder } from "../../core/policy/secret-paths.ts";
import { words } from "../../core/text/words.ts";
import { readRegularTextSync } from "../disk/regular-file.ts";
import { folderContains } from "../files/folder-contains.ts";
import { realPathOf } from "../files/real-path.ts";

/** The entries of a git directory through which commits, names of files and branches are read. */
const ENTRIES = words(`
  . HEAD FETCH_HEAD ORIG_HEAD config config.worktree commondir index logs objects objects/info objects/pack packed-refs refs refs/heads refs/tags shallow
`);
const MOST_STORES = 100;

/**
 * The secret place in which a repository has its data although its work tree is elsewhere; `undefined` if there is no
 * such place. A `.git` that leads to `~/.password-store/.git` would show the files of that place as commits,
 * differences and worktrees of the project.
 */
export function secretData(top: string, gitDirs: readonly string[], homes: readonly string[]): string | undefined {
  const known = new Set([homedir(), ...homes].flatMap((path) => [path, realPathOf(path)]));
  const secretAt = secretFinder([...known], []);
  const own = realPathOf(top);
  const chosen = secretAt(own); // the secret place that contains the work tree: the person chose to work in it
  const entries = [...new Set(gitDirs)].flatMap((folder) => ENTRIES.map((name) => join(folder, name)));
  const stores = objectStores(gitDirs.map((folder) => join(folder, "objects")));
  return [...entries, ...stores]
    .map(realPathOf)
    .filter((path) => !folderContains(own, path))
    .map(secretAt)
    .find((place) => place !== undefined && place !== chosen);
}

/**
 * The given object folders, and the folders that they name as alternates (places of further objects), directly or
 * through others.
 */
function objectStores(first: readonly string[]): string[] {
  const stores = [...first];
  for (const store of stores) {
    if (stores.length > MOST_STORES) break;
    stores.push(...alternatesOf(store).filter((path) => !stores.includes(path)));
  }
  return stores;
}

function alternatesOf(store: string): string[] {
  try {
    const lines = readRegularTextSync(join(store, "info/alternates")).split("\n");
    return lines.filter((line) => line !== "" && !line.startsWith("#")).map((line) => resolve(store, unquoted(line)));
  } catch {
    return []; // most repositories have no such file, and git cannot read this one either
  }
}

/** Decodes a path in quotation marks, with escapes, as git writes it. */
function unquoted(line: string): string {
  if (!/^".*"$/.test(line)) return line;
  return line
    .slice(1, -1)
    .replace(/\\([0-7]{3}|.)/g, (_, code: string) =>
      code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : code,
    );
}
