import { z } from "zod";
import { defineTool, type Tool } from "../../core/task/tool.ts";

const input = z.strictObject({
  timeZone: z.string().min(1).optional().describe("an IANA name such as Europe/Berlin; UTC is always given"),
});

/** Prints the time of the given clock. */
export const currentTimeBy = (clock: () => number): Tool =>
  defineTool({
    name: "current_time",
    description: "Returns the date and time in UTC and, if requested, in another time zone.",
    input,
    effect: "read",
    does: "none",
    timeoutMs: 1_000,
    run({ timeZone }) {
      const now = new Date(clock());
      return timeZone === undefined ? now.toISOString() : `${now.toISOString()}\n${localTime(now, timeZone)}`;
    },
  });

export const currentTime = currentTimeBy(Date.now);

function localTime(now: Date, timeZone: string): string {
  try {
    return new Intl.DateTimeFormat("en-GB", { timeZone, dateStyle: "full", timeStyle: "long" }).format(now);
  } catch {
    throw new Error(`"${timeZone}" is not a known time zone: use an IANA name such as Europe/Berlin`);
  }
}
