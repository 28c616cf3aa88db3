/** Error codes for mistakes that the caller made, with their exit codes. */
const exitCodes = {
  BAD_INPUT: 2,
  BAD_FILE: 2,
  BAD_AGENT: 2,
  BAD_CONFIG: 2,
  BAD_CHANGE: 2,
  UNKNOWN_AGENT: 2,
  UNKNOWN_MODEL: 2,
  UNKNOWN_TOOL: 2,
  UNKNOWN_RUN: 2,
  UNKNOWN_GATE: 2,
  RUN_DAMAGED: 2,
  RUN_UNFINISHED: 2,
  NOT_RESUMABLE: 2,
  MISSING_KEY: 2,
  MISSING_PEER: 2,
  PLAN_INVALID: 2,
  PLAN_EMPTY: 2,
  PLAN_NO_OUTPUT: 2,
  PLAN_UNKNOWN_NEED: 2,
  PLAN_UNKNOWN_REFERENCE: 2,
  PLAN_DUPLICATE_ID: 2,
  PLAN_SELF_DEPENDENCY: 2,
  PLAN_CYCLE: 2,
  PLAN_UNUSED_NODE: 2,
  PLAN_TOO_DEEP: 2,
  STATE_UNWRITABLE: 1,
  OUTPUT_UNWRITABLE: 1,
  TOO_MANY_FILES: 1,
  WORKER_FAILED: 1,
  ENGINE_UNREACHABLE: 1,
  ENGINE_OUTDATED: 2,
  LOGIN_FAILED: 1,
  RUN_BUSY: 3,
  TOO_MANY_RUNS: 3,
  TOO_DEEP: 3,
  UNTRUSTED: 3,
  NO_SANDBOX: 3,
  DISABLED: 3,
  NEEDS_LOGIN: 3,
} as const;

export type ErrorCode = keyof typeof exitCodes;

/** True for the code of one of subcrew's errors. */
export function isCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && Object.hasOwn(exitCodes, value);
}

/** Thrown only for mistakes the caller can fix; a failure of an agent, a model or a tool is an `Outcome` instead. */
export class CrewError extends Error {
  readonly code: ErrorCode;
  /** What the caller can do about the error, in one sentence. */
  readonly hint: string;

  constructor(code: ErrorCode, message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "CrewError";
    this.code = code;
    this.hint = hint;
  }
}

/** True for an error of subcrew, also when another copy of this module made it. */
export function isCrewError(error: unknown): error is CrewError {
  return error instanceof Error && error.name === "CrewError" && "code" in error && "hint" in error;
}

/** The exit code with which the command answers a caller's mistake. */
export function exitCodeOfError(code: ErrorCode): number {
  return exitCodes[code];
}

/** The text of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name;
  return typeof thrown === "string" ? thrown : String(thrown);
}
