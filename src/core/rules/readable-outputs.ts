/**
 * Output files of the run that a task was told about because it saw only a part of them. The task may read these files,
 * and no other files in the folder.
 */
export type ReadableOutputs = Readonly<{
  /** The output folder of the run: files outside of it are never readable by this permission. */
  folder: string;
  files: ReadonlySet<string>;
}>;
