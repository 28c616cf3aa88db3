/**
 * A snapshot of the current files of a workspace, for a machine that has to fetch them. The contents are in the store
 * of the run.
 */
export type WorkspaceSnapshot = Readonly<{
  commit: string;
  /** The path of the workspace below the top of the repository. */
  prefix: string;
  /** True: the uncommitted changes of the workspace are stored as the `dirty` text of the task. */
  dirty: boolean;
  /** True: commits that the machine lacks are stored as the `bundle` text of the task. */
  bundle: boolean;
}>;
