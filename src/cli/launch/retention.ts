import { join } from "node:path";
import type { Crew } from "../../crew/crew-type.ts";
import { readRegularText } from "../../runtime/disk/regular-file.ts";
import { writeAtomic } from "../../runtime/disk/write-atomic.ts";
import { parseJson } from "../../core/text/json.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const DEFAULT_KEEP_DAYS = 30;
/**
 * If more time than this is between two checks, the clock may have been set wrong. Then nothing is deleted before the
 * next check.
 */
const JUMP_MS = 7 * DAY_MS;

/** `state` is the state folder. `say` prints a line for a person; it is absent when no person reads the output. */
export type RetentionPlace = Readonly<{ state: string; now: number; say?: (line: string) => void }>;

/**
 * Deletes runs that ended long ago, at most once a day. Without a retention setting, the first check only prints a
 * notice. A check after a jump of the clock, in either direction, deletes nothing. Errors never fail the command.
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
    const before = checkedBefore(await readRegularText(file).catch(() => undefined));
    const passed = before && now - before.looked;
    if (passed !== undefined && Math.abs(passed) < DAY_MS) return;
    const isTold = before !== undefined || asked !== undefined;
    if (!isTold && !say) return;
    const isBack = passed !== undefined && passed < 0;
    const isJump = passed !== undefined && passed > JUMP_MS && !before?.jumped;
    await writeAtomic(file, `${JSON.stringify({ version: 1, looked: now, ...(isJump && { jumped: true }) })}\n`);
    if (isBack || isJump) return;
    if (isTold) await kept.expire(now - days * DAY_MS);
    else
      say?.(
        `note    Runs and their transcripts are deleted ${days} days after they ended. Change the number of days with \`subcrew config set runs.keepDays N\`; 0 keeps them for ever.`,
      );
  } catch {
    return; // the run itself reports a state folder that cannot be written
  }
}

type Checked = Readonly<{ looked: number; jumped: boolean }>;

/**
 * The time of the last check, and whether that check deleted nothing because it came too long after the check before
 * it; `undefined` when there was no check or the file is unreadable.
 */
function checkedBefore(text: string | undefined): Checked | undefined {
  try {
    const { looked, jumped } = parseJson(text ?? "{}") as { looked?: unknown; jumped?: unknown };
    return typeof looked === "number" ? { looked, jumped: jumped === true } : undefined;
  } catch {
    return undefined;
  }
}
