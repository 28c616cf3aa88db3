/**
 * Output files of the run that a task was told about because it saw only a part of them. Each may be read; other files
 * in the folder may not.
 */
export type ReadableOutputs = Readonly<{
  /** The output folder of the run: files outside of it are never readable this way. */
  folder: string;
  files: ReadonlySet<string>;
}>;
