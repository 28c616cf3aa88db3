import { symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { tempFolder } from "../support/temp-folder.ts";

const root = join(import.meta.dirname, "..", "..");

/** Another path of a file of the project, without blanks, for clients that split a command line at every blank. */
export function withoutBlanks(file: string): string {
  const link = join(tempFolder(), "project");
  symlinkSync(root, link);
  return join(link, relative(root, file));
}
