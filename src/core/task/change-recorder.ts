import type { ChangedFile, FileVersion } from "../run/file-version.ts";

/** Which file changes of a command were noticed. */
export type SeenChanges = Readonly<{
  files: readonly ChangedFile[];
  /** Why some changes cannot be seen. */
  unseen?: string;
}>;

/** Stores the content of files before and after a run changes them, so that the changes can be shown and undone. */
export type ChangeRecorder = Readonly<{
  /** Stores content that is about to be written to a file, and returns the version that the file will have. */
  keep(content: string, mode?: number): Promise<FileVersion>;
  /** Stores the content that is at this path now, and returns its version. */
  version(path: string): Promise<FileVersion>;
  /** Inspects the git repositories around these folders. The returned function inspects them again and lists the changes. */
  watch(folders: readonly string[]): Promise<() => Promise<SeenChanges>>;
}>;
