import { isIgnored } from "../workspace/gitignore.ts";
import { repositoryOf } from "../workspace/walk.ts";
import { nodeSearch } from "./node-search.ts";
import { isUnusable, type Query, type Search } from "./query.ts";
import { findRipgrep, ripgrep } from "./ripgrep.ts";

/**
 * Uses ripgrep if it is available, and JavaScript for patterns that ripgrep does not support (lookaround,
 * backreferences).
 */
export const search: Search = async function* (query, signal) {
  const program = await findRipgrep(query);
  if (program === undefined) return yield* nodeSearch(query, signal);
  // ripgrep also reads ignore files in the folders above the start, up to the root of the repository; without a
  // repository it would read up to /, so this is off.
  const goesUp = query.start.ignore !== undefined && (await repositoryOf(query.root.real)) !== undefined;
  let found = false;
  try {
    for await (const hit of ripgrep({ ...query, program, goesUp }, signal)) {
      found = true;
      if (goesUp || !isHidden(query, hit.path)) yield hit;
    }
  } catch (error) {
    if (found || !isUnusable(error)) throw error;
    yield* nodeSearch(query, signal);
  }
};

/** True when an ignore rule of a folder above the start hides the file or one of its folders. */
function isHidden({ root, start, isFile }: Query, path: string): boolean {
  if (start.ignore === undefined || isFile) return false;
  let end = start.path.length;
  while (end >= 0) {
    end = path.indexOf("/", end + 1);
    if (isIgnored(start.ignore, `${root.real}/${end < 0 ? path : path.slice(0, end)}`, end >= 0)) return true;
  }
  return false;
}
