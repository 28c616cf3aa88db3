import type { ChangedFile, FileVersion } from "../run/file-version.ts";

/** The file changes of a shell command, as far as they were noticed. */
export type SeenChanges = Readonly<{
  files: readonly ChangedFile[];
  /** Why some changes could not be noticed. */
  unseen?: string;
}>;

/** Stores the content of files before and after a run changes them, so that the changes can be shown and undone. */
export type ChangeRecorder = Readonly<{
  /** Stores content that is about to be written to a file, and returns a description of that version of the file. */
  keep(content: string, mode?: number): Promise<FileVersion>;
  /**
   * Stores the content that is at this path now, and returns a description of that version. `real`: the real path, if
   * `path` goes through an open folder. Nothing behind a symbolic link is stored.
   */
  version(path: string, real?: string): Promise<FileVersion>;
  /**
   * Inspects the git repositories that contain these folders. The returned function inspects them again and lists the
   * changes.
   */
  watch(folders: readonly string[]): Promise<() => Promise<SeenChanges>>;
}>;
