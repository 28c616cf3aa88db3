import { homedir } from "node:os";
import { join } from "node:path";

/** The user's home, and where we keep things. */
export function homes(): Readonly<{ home: string; state: string }> {
  const home = process.env["HOME"] ?? homedir();
  return { home, state: process.env["SUBCREW_HOME"] ?? join(home, ".subcrew") };
}
