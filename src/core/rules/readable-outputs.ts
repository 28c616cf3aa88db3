/**
 * Output files of the run that a task was told about because it saw only a part of them. The task may read these files,
 * and no other files in the folder.
 */
export type ReadableOutputs = Readonly<{
  /** The output folder of the run. This permission never covers files outside of it. */
  folder: string;
  files: ReadonlySet<string>;
}>;
