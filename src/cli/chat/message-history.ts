import { parseJson } from "../../core/text/json.ts";
import { readRegularText } from "../../runtime/disk/regular-file.ts";
import { writeAtomic } from "../../runtime/disk/write-atomic.ts";

const MOST_KEPT = 500;

/** The messages that the person entered in earlier conversations, the newest first. */
export async function keptHistory(file: string): Promise<string[]> {
  try {
    const value: unknown = parseJson(await readRegularText(file));
    return Array.isArray(value) ? value.filter((line) => typeof line === "string").slice(0, MOST_KEPT) : [];
  } catch {
    return [];
  }
}

/** Keeps the entered messages. A history that cannot be written, as on a full disk, must not end the conversation. */
export async function keepHistory(file: string, history: readonly string[]): Promise<void> {
  await writeAtomic(file, `${JSON.stringify(history)}\n`).catch(() => {});
}
