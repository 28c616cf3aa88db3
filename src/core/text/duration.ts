/**
 * A time span for people: `1m30s` and `1.5s` when tight (as pi-parallel-agents writes it), `1m 30s` and `2h 2m` when
 * spaced (as gen-code does).
 */
export function formatDuration(ms: number, style: DurationStyle = "tight"): string {
  return styles[style](ms > 0 ? Math.floor(ms) : 0);
}

/** Reads `500ms`, `90s`, `5m`, `1h30m` or `2d` as milliseconds. Only zero needs no unit. */
export function parseDuration(text: string): number | undefined {
  const trimmed = text.trim();
  if (trimmed.length > LONGEST) return undefined;
  const parts = SPAN.exec(trimmed === "0" ? "0s" : trimmed);
  if (parts === null || trimmed === "") return undefined;
  const ms = Math.round(UNITS.reduce((sum, unit, i) => sum + Number(parts[i + 1] ?? 0) * unit, 0));
  return Number.isSafeInteger(ms) ? ms : undefined;
}

/** How a duration is written: `1m30s` (tight) or `1m 30s` (spaced). */
export type DurationStyle = "tight" | "spaced";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const styles: Record<DurationStyle, (ms: number) => string> = {
  tight(ms) {
    if (ms < SECOND) return `${ms}ms`;
    if (ms < MINUTE) return `${(ms / SECOND).toFixed(1)}s`;
    const seconds = Math.round(ms / SECOND);
    return `${Math.floor(seconds / 60)}m${seconds % 60}s`;
  },
  spaced(ms) {
    if (ms < MINUTE) return `${Math.floor(ms / SECOND)}s`;
    if (ms < HOUR) return `${Math.floor(ms / MINUTE)}m ${Math.floor((ms % MINUTE) / SECOND)}s`;
    return `${Math.floor(ms / HOUR)}h ${Math.floor((ms % HOUR) / MINUTE)}m`;
  },
};

/** The units in the order in which a duration is written. */
const UNITS = [DAY, HOUR, MINUTE, SECOND, 1];
const SPAN = new RegExp(`^${["d", "h", "m", "s", "ms"].map((unit) => `(?:(\\d+(?:\\.\\d+)?)${unit} ?)?`).join("")}$`);
const LONGEST = 40;
