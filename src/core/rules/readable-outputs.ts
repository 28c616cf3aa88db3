/**
 * Output files of runs that the task was told about, because they hold a result of which it saw only a part, or will
 * hold the result of a subagent. The task may read these files, and no other files in their folders.
 */
export type ReadableOutputs = Readonly<{ files: ReadonlySet<string> }>;
