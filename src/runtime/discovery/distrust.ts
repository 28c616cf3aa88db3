/** Decides whether a project's files are trusted. Both functions get canonical paths. */
export type Trust = Readonly<{
  project(root: string): boolean;
  /** Whether this content of a file is trusted; called only for trusted projects. */
  file?(file: Readonly<{ root: string; path: string; hash: string; hidden: boolean }>): boolean;
  /**
   * Whether a real path is in a secret place or in subcrew's state folder, or a rule forbids reading it: no file of a
   * project may lead there.
   */
  isClosed?(real: string): boolean;
  /** Whether the file was trusted earlier, with any content. */
  knows?(file: Readonly<{ root: string; path: string }>): boolean;
}>;

/**
 * Why a file of a project is not used: the project is not trusted, the content has changed, the file is new, it has
 * hidden characters, it may not be read, or it is a skill with too many files.
 */
export type Distrust = "project" | "changed" | "new" | "hidden" | "secret" | "unchecked";

/** Why a file is not trusted, as the end of a sentence. */
export const distrustText: Readonly<Record<Distrust, string>> = {
  project: "the project is not trusted",
  changed: "it changed since you trusted it",
  new: "you have not trusted this file yet",
  hidden: "it contains hidden characters",
  unchecked: "it is in a folder with more than 2,000 files and folders, which are not checked",
  secret: "it may hold secrets, or a rule forbids reading it",
};

type ProjectFile = Readonly<{
  root: string;
  path: string;
  hash: string | undefined;
  hidden: boolean;
  /** True: the file is named by a link or by another file of the project. */
  named?: boolean;
}>;

/** Why this content of a file is not used; `undefined`: it is used. */
export function distrustOf(
  { root, path, hash, hidden, named = false }: ProjectFile,
  trust: Trust | undefined,
  isTrusted = trust?.project(root) === true,
): Distrust | undefined {
  if (!trust || !isTrusted) return "project";
  if (named && trust.isClosed?.(path)) return "secret";
  if (trust.file === undefined) return hidden ? "hidden" : undefined;
  if (hash !== undefined && trust.file({ root, path, hash, hidden })) return undefined;
  return trust.knows?.({ root, path }) === true ? "changed" : "new";
}
