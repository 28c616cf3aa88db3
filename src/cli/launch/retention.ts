import { join } from "node:path";
import type { Crew } from "../../crew.ts";
import { readRegularText } from "../../runtime/disk/regular-file.ts";
import { writeAtomic } from "../../runtime/disk/write-atomic.ts";
import { parseJson } from "../../core/text/json.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const DEFAULT_KEEP_DAYS = 30;

/** `state` is the state folder. `say` prints a line for a person; it is absent when no person reads the output. */
export type RetentionPlace = Readonly<{ state: string; now: number; say?: (line: string) => void }>;

/**
 * Deletes runs that ended long ago, at most once a day. Without a retention setting, the first check only prints a
 * notice. Errors never fail the command.
 */
export async function expireRuns(
  { kept, settings }: Pick<Crew, "kept" | "settings">,
  { state, now, say }: RetentionPlace,
): Promise<void> {
  const asked = settings.config.runs?.keepDays;
  const days = asked ?? DEFAULT_KEEP_DAYS;
  if (days === 0) return;
  const file = join(state, "retention.json");
  try {
    const looked = lookedAt(await readRegularText(file).catch(() => undefined));
    if (looked !== undefined && now - looked < DAY_MS) return;
    const isTold = looked !== undefined || asked !== undefined;
    if (!isTold && !say) return;
    await writeAtomic(file, `${JSON.stringify({ version: 1, looked: now })}\n`);
    if (isTold) await kept.expire(now - days * DAY_MS);
    else
      say?.(
        `note    Runs and their transcripts are deleted ${days} days after they ended. Change the number of days with \`subcrew config set runs.keepDays N\`; 0 keeps them for ever.`,
      );
  } catch {
    return; // the run itself reports a state folder that cannot be written
  }
}

/** The time of the last clean-up; `undefined` when there was none or the file is unreadable. */
function lookedAt(text: string | undefined): number | undefined {
  try {
    const { looked } = parseJson(text ?? "{}") as { looked?: unknown };
    return typeof looked === "number" ? looked : undefined;
  } catch {
    return undefined;
  }
}
