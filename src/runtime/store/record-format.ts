import { CrewError } from "../../core/schema/error.ts";
import type { KeptEvent } from "../../core/run/event.ts";

/** The format of records that this version reads. Records without a format have this one. */
export const RECORD_FORMAT = 1;

/** The sentence about a run whose first record names a newer format; `undefined`: it can be read. */
export function newerFormat(first: KeptEvent | undefined): string | undefined {
  const format: unknown = first && "format" in first ? first.format : undefined;
  return typeof format === "number" && format > RECORD_FORMAT
    ? `The run was recorded by a newer version of subcrew (format ${format}, this version reads ${RECORD_FORMAT}).`
    : undefined;
}

/** Refuses a run that a newer version recorded. */
export function checkFormat(first: KeptEvent | undefined): void {
  const problem = newerFormat(first);
  if (problem !== undefined) throw new CrewError("BAD_FILE", problem, "Update subcrew, then try again.");
}
