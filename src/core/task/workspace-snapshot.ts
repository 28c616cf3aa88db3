/**
 * A snapshot of the current files of a workspace, for a machine that has to fetch them. The contents are in the store
 * of the run.
 */
export type WorkspaceSnapshot = Readonly<{
  commit: string;
  /** The path of the workspace below the top of the repository. */
  prefix: string;
  /** The hash of the uncommitted changes of the workspace, which are stored as the `dirty` text of the task. */
  dirty?: string;
  /** The hash of the commits that the machine lacks, which are stored as the `bundle` text of the task. */
  bundle?: string;
}>;
