import { type FailedOutcome, failed } from "../outcome/outcome.ts";
import { isCrewError, messageOf } from "../schema/error.ts";

/** The place in a run that an error belongs to; an empty path means the run itself. */
export type RunPlace = Readonly<{
  run: string;
  path: string;
  /** The kind of the node at the path: a task by default. */
  kind?: string;
}>;

/** An error that no part of the program expected. Its message names run and path; the original error is its cause. */
export class CrashError extends Error {
  readonly run: string;
  readonly path: string;
  /** The code of the original error, as in `ENOSPC`. */
  readonly code?: string;

  constructor(thrown: unknown, { run, path, kind = path === "" ? "run" : "task" }: RunPlace) {
    super(`The ${kind} ${path === "" ? run : `${run}/${path}`} crashed: ${messageOf(thrown)}`, { cause: thrown });
    this.name = "CrashError";
    this.run = run;
    this.path = path;
    if (thrown instanceof Error && "code" in thrown && typeof thrown.code === "string") this.code = thrown.code;
  }
}

/**
 * Adds run and path to an error. Errors that the caller can fix, and errors that already name a place, are returned
 * unchanged.
 */
export function crashAt(thrown: unknown, place: RunPlace): unknown {
  return isCrewError(thrown) || thrown instanceof CrashError ? thrown : new CrashError(thrown, place);
}

/** The outcome of a node whose work threw: its message names run and path. */
export function crashed(thrown: unknown, place: RunPlace): FailedOutcome {
  const { message } = thrown instanceof CrashError ? thrown : new CrashError(thrown, place);
  return failed("CRASHED", message);
}
