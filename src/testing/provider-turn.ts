/** The answer of the simulated provider to one request: a normal answer, or a fault. */
export type ProviderTurn = string | SpokenTurn | FaultyTurn;

/** A normal answer. */
export type SpokenTurn = Readonly<{
  /** The text of the answer. A list is sent piece by piece, each as an event of its own. */
  text?: string | readonly string[];
  thinking?: string;
  calls?: readonly ProviderCall[];
  usage?: ProviderUsage;
  /** Why the answer stops: it is complete (the default), it reached the length limit, or a filter stopped it. */
  finish?: "done" | "length" | "filter";
  /** The wait before the first byte. */
  delayMs?: number;
  /** The wait before each further event. */
  paceMs?: number;
}>;

/** A tool call; `arguments` is sent unchanged, so that it can be invalid JSON. */
export type ProviderCall = Readonly<
  {
    name: string;
    id?: string;
    /** The group of the tool, where the wire format has groups (OpenAI's responses API). */
    namespace?: string;
  } & ({ input: unknown; arguments?: never } | { arguments: string; input?: never })
>;

/**
 * The tokens of an answer; `input` does not count tokens that were read from or written to a cache, `output` includes
 * `reasoning`.
 */
export type ProviderUsage = Readonly<{
  input: number;
  output: number;
  cacheRead?: number;
  cacheWrite?: number;
  reasoning?: number;
}>;

/** A turn in which the simulated provider fails. */
export type FaultyTurn = Readonly<{
  fault: FaultName;
  /** Text that is sent before the fault, for faults in the middle of an answer. */
  text?: string;
  message?: string;
  /** The value of the header `Retry-After`. */
  retryAfter?: string;
  delayMs?: number;
}>;

/** Faults that are an HTTP status, with the error body of each wire format. */
export const statusFaults = {
  "bad-request": { status: 400, type: "invalid_request_error", message: "The request is malformed." },
  "too-long": {
    status: 400,
    type: "invalid_request_error",
    message: "prompt is too long: 250000 tokens > 200000 maximum",
  },
  unauthorized: { status: 401, type: "authentication_error", message: "invalid x-api-key" },
  "echo-key": { status: 401, type: "authentication_error", message: "Incorrect API key provided: " },
  "no-credit": { status: 402, type: "billing_error", message: "Insufficient balance." },
  forbidden: { status: 403, type: "permission_error", message: "This key may not use that model." },
  "no-such-model": {
    status: 404,
    type: "not_found_error",
    message: "The model does not exist.",
    code: "model_not_found",
  },
  "rate-limit": { status: 429, type: "rate_limit_error", message: "Too many requests." },
  "no-quota": {
    status: 429,
    type: "insufficient_quota",
    message: "You exceeded your quota.",
    code: "insufficient_quota",
  },
  broken: { status: 500, type: "api_error", message: "Something broke over here." },
  unavailable: { status: 503, type: "api_error", message: "The service is not available." },
  overloaded: { status: 529, type: "overloaded_error", message: "Overloaded." },
} as const satisfies Record<string, StatusFault>;

export type StatusFault = Readonly<{ status: number; type: string; message: string; code?: string }>;

/** Faults of the connection or of the data on it. */
export type WireFault =
  /** The connection is reset before anything was sent. */
  | "reset"
  /** The connection is reset in the middle of the answer. */
  | "dropped"
  /** The stream is closed normally, but the answer is incomplete. */
  | "cut"
  /** The server accepts the request and never answers. */
  | "hang"
  /** The answer never ends. */
  | "endless"
  /** A complete answer without any content. */
  | "empty"
  | "html"
  | "no-content"
  /** A JSON body where an event stream is expected. */
  | "wrong-shape"
  /** An event stream whose data is not JSON. */
  | "not-json"
  /** An error event in the middle of a stream. */
  | "error-event"
  | "redirect";

export type FaultName = keyof typeof statusFaults | WireFault;

/** The usage of turns for which the script gives no usage. */
export const SOME_USAGE: ProviderUsage = { input: 10, output: 5 };

/** The pieces in which a text is sent. */
export function piecesOf(text: SpokenTurn["text"]): readonly string[] {
  if (text === undefined || text === "") return [];
  return typeof text === "string" ? [text] : text;
}

/** The arguments of a call as sent. */
export function argumentsOf(call: ProviderCall): string {
  return call.arguments ?? JSON.stringify(call.input ?? {});
}
