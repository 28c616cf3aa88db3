import type { ContextOptions } from "../../core/plan/context.ts";
import { readContextFiles } from "../files/context-files.ts";
import type { Root } from "../files/open-contained.ts";
import type { GitPlace } from "./git.ts";
import { getGitContext } from "./git-context.ts";

export { readContextFiles } from "../files/context-files.ts";
export { getGitContext } from "./git-context.ts";

/**
 * The context of a run as one text: the user's text, then the files, then the git state, separated by rules. This never
 * rejects: missing parts are reported in the text. Returns a promise, although the function of this name in
 * pi-parallel-agents is synchronous.
 */
export async function buildContext(cwd: string, options: ContextOptions, place: ContextPlace = {}): Promise<string> {
  const parts = [
    options.context?.trim() ?? "",
    await readContextFiles(options.contextFiles ?? [], place.root ?? cwd),
    await getGitContext(options.gitContext ?? false, cwd, place),
  ];
  return parts.filter((part) => part !== "").join("\n\n---\n\n");
}

/** The repository, and the folder that files are read from if parts of it are forbidden. */
export type ContextPlace = GitPlace & Readonly<{ root?: Root }>;
