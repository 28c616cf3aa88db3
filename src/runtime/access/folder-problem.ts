import { stat } from "node:fs/promises";

/** Why a path cannot be a working folder, as the end of a sentence; `undefined` when it can. */
export async function folderProblem(path: string): Promise<string | undefined> {
  try {
    return (await stat(path)).isDirectory() ? undefined : "it is not a folder";
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    return code === "EACCES" ? "you have no permission to open it" : "the folder does not exist";
  }
}
