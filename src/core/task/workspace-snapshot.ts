/** The current files of a workspace, for a machine that has to fetch them. The contents are in the store of the run. */
export type WorkspaceSnapshot = Readonly<{
  commit: string;
  /** The folder below the top of the repository. */
  prefix: string;
  /** Its uncommitted changes are stored as the `dirty` text of the task. */
  dirty: boolean;
  /** Commits that the machine lacks are stored as the `bundle` text of the task. */
  bundle: boolean;
}>;
