import { dirname, posix } from "node:path";
import { nearest } from "../../core/text/nearest.ts";
import { isOpenRefusal, openInside, printableName, type Root, rootOf } from "../../runtime/files/open-contained.ts";
import { entriesOf } from "./walk.ts";

const MOST = 5;

/** Throws the error about a missing path, with similar names that exist. */
export function withNearNames(root: string | Root, path: string): (error: unknown) => Promise<never> {
  return async (error) => {
    if (!isOpenRefusal(error) || error.code !== "MISSING") throw error;
    throw Object.assign(error, { message: `${error.message}. ${await hint(root, path)}` });
  };
}

/** Names in the nearest existing parent folder: names similar to the requested name, or else the first names. */
async function hint(root: string | Root, path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    const folder = dirname(at);
    const names = await namesIn(root, folder);
    if (names === undefined && folder !== at) continue;
    if (names === undefined || names.length === 0) return "Use list_files to see what is there.";
    const near = resembling(posix.basename(at), names);
    const place = folder === "." ? "the working folder" : `"${printableName(folder)}"`;
    if (near.length > 0) return `Similar names in ${place}: ${near.map(printableName).join(", ")}`;
    const more = names.length > MOST ? `, and ${names.length - MOST} more` : "";
    return `Entries of ${place}: ${names.slice(0, MOST).map(printableName).join(", ")}${more}`;
  }
}

async function namesIn(given: string | Root, folder: string): Promise<string[] | undefined> {
  const root = typeof given === "string" ? await rootOf(given) : given;
  const opened = await openInside(root, folder).catch(() => undefined);
  await opened?.handle.close();
  if (opened?.kind !== "directory") return undefined;
  const entries = await entriesOf(root, { path: opened.path, ignore: undefined });
  return entries.map(({ name, kind }) => (kind === "directory" ? `${name}/` : name));
}

/** Similar names: the most likely name first, then names with the same text before the first dot. */
function resembling(name: string, names: readonly string[]): string[] {
  const best =
    nearest(name, names) ??
    nearest(
      name,
      names.map((other) => other.replace(/\/$/, "")),
    );
  const word = stem(name);
  const alike = word.length < 3 ? [] : names.filter((other) => related(word, stem(other)));
  return [...new Set([...(best === undefined ? [] : [best]), ...alike])].slice(0, MOST);
}

const stem = (name: string): string => (name.replace(/\/$/, "").split(".")[0] ?? "").toLowerCase();

const related = (word: string, other: string): boolean =>
  other.length > 2 && (other.includes(word) || word.includes(other));
