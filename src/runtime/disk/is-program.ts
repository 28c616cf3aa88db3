import { accessSync, constants, statSync } from "node:fs";

/** Whether a path is a file that this user may execute. */
export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
