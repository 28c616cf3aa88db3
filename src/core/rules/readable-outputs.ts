/**
 * Files of its run that a task was told of, since they hold what it was shown only a part of. Each of them may be read; what
 * lies beside them is none of its business.
 */
export type ReadableOutputs = Readonly<{
  /** Where the outputs of the run are kept: no file outside of it counts, whoever names it. */
  folder: string;
  files: ReadonlySet<string>;
}>;
