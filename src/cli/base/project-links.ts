import { existsSync, readlinkSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { protectedPart } from "../../core/policy/protected-paths.ts";
import { secretFinder, secretPathsIn } from "../../core/policy/secret-paths.ts";
import { CrewError } from "../../core/schema/error.ts";
import { folderContains } from "../../runtime/files/folder-contains.ts";
import { linksOnTheWay, realPathOf } from "../../runtime/files/real-path.ts";
import { homes } from "./home.ts";

/**
 * Throws if a file that a person named for the result is a symbolic link of the project, or behind one, that leads out of
 * the project or to a protected file. Whoever wrote the project, and every command of an agent, could place such a link
 * to `~/.bashrc`, and the result is the text of a model.
 */
export function checkOutputLinks(file: string): void {
  const { base, target } = behindLinks(file);
  if (target === undefined || (folderContains(base, target) && !isGuarded(base, target))) return;
  throw new CrewError(
    "BAD_FILE",
    `"${file}" is not written: a symbolic link in this project leads to "${target}".`,
    "If this is intended, name that file itself.",
  );
}

/** Throws if a file that a person named as input is a symbolic link of the project, or behind one, to a secret place. */
export function checkInputLinks(file: string): void {
  const { base, target } = behindLinks(file);
  const secret = target === undefined ? undefined : secretAt(base, target);
  if (secret === undefined) return;
  throw new CrewError(
    "BAD_FILE",
    `"${file}" is not read: a symbolic link in this project leads to a secret place (${secret}).`,
    "If this is intended, name that file itself.",
  );
}

/** Whether a file of a project is protected or secret. */
function isGuarded(base: string, target: string): boolean {
  const home = realPathOf(homes().home);
  const anchors = folderContains(base, home) ? [{ cut: relative(base, home), add: "" }] : [];
  return (
    protectedPart(relative(base, target), { homes: anchors }) !== undefined || secretAt(base, target) !== undefined
  );
}

/** The secret place that contains a file, unless the person chose to work in it. */
function secretAt(base: string, target: string): string | undefined {
  const { home, state } = homes();
  const find = secretFinder([home, realPathOf(home)], [realPathOf(state), ...secretPathsIn(process.env)]);
  const found = find(target);
  return found === find(base) ? undefined : found;
}

/** The project of the current folder, and the file that a path leads to if one of its symbolic links is on the way. */
function behindLinks(file: string): Readonly<{ base: string; target?: string }> {
  const base = projectOf(realPathOf(process.cwd()));
  const isOurs = (link: string): boolean => folderContains(base, link);
  return linksOnTheWay(file).some(isOurs) ? { base, target: targetOf(file) } : { base };
}

/** The nearest folder upwards that is a repository, or the folder itself. */
function projectOf(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return folder;
  }
}

/** The real path of a file, also behind links to files that do not exist yet. */
function targetOf(file: string): string {
  let at = realPathOf(file);
  for (let links = 0; links < MOST_LINKS; links++) {
    const next = linkAt(at);
    if (next === undefined) break;
    at = realPathOf(resolve(dirname(at), next));
  }
  return at;
}

/** The kernel follows no more links than this. */
const MOST_LINKS = 40;

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // not a link, or missing
  }
}
