import { homedir } from "node:os";
import { join } from "node:path";

/** The home folder of the user, and the folder in which subcrew keeps its state. */
export function homes(): Readonly<{ home: string; state: string }> {
  const home = process.env["HOME"] ?? homedir();
  return { home, state: process.env["SUBCREW_HOME"] ?? join(home, ".subcrew") };
}
