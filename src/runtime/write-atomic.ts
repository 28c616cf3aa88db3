import { randomBytes } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Writes a file whole or not at all: whoever reads it sees the old text or the new one. */
export async function writeAtomic(file: string, text: string): Promise<void> {
  const draft = join(dirname(file), `.${randomBytes(8).toString("hex")}.tmp`);
  try {
    await writeFile(draft, text, { flag: "wx", mode: 0o600 });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
