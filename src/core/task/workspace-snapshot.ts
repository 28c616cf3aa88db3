/** The files of a workspace as they are now, for a place that has to fetch them. The contents are in the store of the run. */
export type WorkspaceSnapshot = Readonly<{
  commit: string;
  /** The folder below the top of the repository. */
  prefix: string;
  /** Its uncommitted changes are kept as the `dirty` text of the task. */
  dirty: boolean;
  /** Commits that the place lacks are kept as the `bundle` text of the task. */
  bundle: boolean;
}>;
