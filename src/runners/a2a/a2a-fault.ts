import { type FailedOutcome, type FaultCode, failed } from "../../core/outcome/outcome.ts";
import { isCrewError, messageOf } from "../../core/schema/error.ts";
import { defined } from "../../core/text/defined.ts";
import { cutHead } from "../../core/text/cut.ts";
import { isProtocolError, isUnusableAnswer, protocolCode } from "./a2a-sdk.ts";

/** An error while working with a remote agent, which becomes the outcome of the task. */
export type RemoteFailure = Error &
  Readonly<{ code: FaultCode; hint?: string; retryable: boolean; retryAfterMs?: number }>;

export function remoteFailure(
  code: FaultCode,
  message: string,
  hint?: string,
  more: Readonly<{ retryable?: boolean; retryAfterMs?: number; cause?: unknown }> = {},
): RemoteFailure {
  const { retryable = false, retryAfterMs, cause } = more;
  return Object.assign(new Error(message, { cause }), {
    name: "RemoteFailure",
    code,
    retryable,
    ...defined({ hint, retryAfterMs }),
  });
}

/** Turns an HTTP error status into a fault. */
export function statusFailure(
  status: number,
  { body, retryAfterMs }: { body: string; retryAfterMs?: number },
): RemoteFailure {
  const said = oneLine(body);
  const more = said === "" ? "" : `: ${said}`;
  const row = STATUSES.find(({ fits }) => fits(status))!;
  return remoteFailure(row.code, `${row.what} (${status}${more})`, row.hint, {
    retryable: row.retryable,
    ...defined({ retryAfterMs }),
  });
}

const STATUSES: readonly Readonly<{
  fits(status: number): boolean;
  code: FaultCode;
  what: string;
  hint: string;
  retryable: boolean;
}>[] = [
  {
    fits: (status) => status === 401 || status === 403,
    code: "REMOTE_AUTH",
    what: "the remote agent rejected the authentication",
    hint: "Check `auth` in the agent's file: its type, and where the secret comes from.",
    retryable: false,
  },
  {
    fits: (status) => status === 404 || status === 410,
    code: "REMOTE_CARD",
    what: "nothing was found at the address of the remote agent",
    hint: "Check the address of the agent's card, and that the server runs.",
    retryable: false,
  },
  {
    fits: (status) => status === 429 || status === 503,
    code: "REMOTE_BUSY",
    what: "the remote agent is busy",
    hint: "Try again later, or set `retry` for the task.",
    retryable: true,
  },
  {
    fits: (status) => status >= 500,
    code: "REMOTE_FAILED",
    what: "the server of the remote agent failed",
    hint: "Report the failure to the operator of the remote agent.",
    retryable: false,
  },
  {
    fits: () => true,
    code: "REMOTE_FAILED",
    what: "the remote agent did not accept the request",
    hint: "Check that the server at this address supports the A2A protocol.",
    retryable: false,
  },
];

/** True for a temporary error: a failed connection, not an error reported by the remote agent. */
export function isPassing(error: unknown): boolean {
  if (isCrewError(error) || isUnusableAnswer(error)) return false;
  return isFailure(error) ? error.retryable : !isProtocolError(error);
}

/** Failures that have their cause on this machine, not at the remote agent. */
const OURS: ReadonlySet<FaultCode> = new Set(["DENIED", "NEEDS_ANSWER", "BUDGET"]);

/**
 * Maps an error to an outcome. `sent`: a message may have arrived, so a retry could repeat its effect. `name`: the
 * agent's name.
 */
export function remoteFault(error: unknown, { sent, name }: { sent: boolean; name?: string }): FailedOutcome {
  const message = `Error calling remote agent${name === undefined ? "" : ` "${name}"`}: ${shortSaid(messageOf(error))}`;
  if (isFailure(error)) {
    const { code, hint, retryable, retryAfterMs } = error;
    return failed(code, OURS.has(code) ? error.message : message, {
      retryable,
      ...defined({ hint, retryAfterMs }),
    });
  }
  if (isCrewError(error)) return failed("UNSUPPORTED", message, { hint: error.hint });
  if (error instanceof Error && error.name === "Refusal")
    return failed("DENIED", message, {
      hint: "An agent on this machine or in your network has to be named in the setting network.allowHosts, as in 127.0.0.1:8080.",
    });
  const code = protocolCode(error);
  if (isProtocolError(error) || isUnusableAnswer(error))
    return failed("REMOTE_FAILED", message, {
      hint: HINTS[code ?? 0] ?? "Report the failure to the operator of the remote agent.",
    });
  if (sent && !neverConnected(error))
    return failed("REMOTE_LOST", message, {
      hint: "The remote agent may have received the task: ask its operator before you retry.",
    });
  return failed("REMOTE_NETWORK", message, {
    hint: "Check the address of the remote agent and your network.",
    retryable: true,
  });
}

const HINTS: Readonly<Record<number, string>> = {
  [-32001]: "The remote agent no longer knows the task; start a new task.",
  [-32004]: "The remote agent does not support the requested operation.",
  [-32005]: "The remote agent does not accept text.",
  [-32009]: "The remote agent uses another version of the A2A protocol; subcrew supports 1.0 and 0.3.",
};

function isFailure(error: unknown): error is RemoteFailure {
  return error instanceof Error && error.name === "RemoteFailure";
}

const NOT_CONNECTED: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** True when no connection was established, so that nothing can have arrived. */
function neverConnected(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if ("code" in at && NOT_CONNECTED.has(String(at.code))) return true;
    if (at instanceof AggregateError && at.errors.some(neverConnected)) return true;
  }
  return false;
}

/** The maximum length of a text of a remote agent that a person reads: a reason, a warning or a question. */
const LONGEST_SAID = 10_000;

export function shortSaid(text: string): string {
  const { text: head, cut } = cutHead(text, LONGEST_SAID);
  return cut ? `${head}... (${text.length - head.length} more characters)` : text;
}

const LONGEST = 300;

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}...` : line;
}
