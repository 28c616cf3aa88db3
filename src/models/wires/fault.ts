import type { Fault } from "../../core/outcome/outcome.ts";
import { messageOf } from "../../core/schema/error.ts";
import { createRedactor } from "../../core/secrets/redact.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord } from "../../core/text/json.ts";
import { sanitize } from "../../core/text/sanitize.ts";
import { withFullStop } from "../../core/text/sentence.ts";
import type { LargeAnswerError } from "./answer-size.ts";
import { type Endpoint, withoutLogin } from "./endpoint.ts";
import { faultKindOf, kinds, saidIn } from "./fault-kind.ts";

/** An HTTP error response. */
export type ErrorResponse = Readonly<{
  status: number;
  /** The headers; their names are in lower case. */
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  body: string;
}>;

/** Maps an HTTP error response to a fault. */
export function faultOfStatus({ status, headers, body }: ErrorResponse, endpoint: Endpoint): Fault {
  const said = saidIn(body);
  const kind = faultKindOf(status, said);
  const text = sayable(said.message || body, endpoint);
  const retryAfterMs = retryAfter(headers, body);
  return {
    ...kinds[kind](endpoint),
    message: `${endpoint.provider} answered ${status}${text === "" ? "." : `: ${text}`}`,
    ...defined({ retryAfterMs }),
  };
}

/** Maps an error event inside a stream to a fault; such an event has no HTTP status, only a message. */
export function faultOfEvent(error: unknown, endpoint: Endpoint): Fault {
  const said = saidIn(error);
  const kind = faultKindOf(said.status ?? 500, said);
  return {
    ...kinds[kind](endpoint),
    message: `${endpoint.provider} failed while it answered: ${sayable(said.message, endpoint)}`,
  };
}

/** Maps an error of the connection to a fault. */
export function faultOfNetwork(thrown: unknown, endpoint: Endpoint): Fault {
  const code = codeOf(thrown);
  const row = networkRows.find(({ codes }) => codes.test(code)) ?? {
    retryable: true,
    hint: () => "Check the network.",
  };
  const retryable = row.retryable && !(endpoint.local && code === "ECONNREFUSED");
  const text = sayable(messageOf(thrown), endpoint);
  return {
    code: "MODEL_NETWORK",
    message: `The connection to ${endpoint.provider} failed: ${text}`,
    hint: row.hint(endpoint),
    retryable,
  };
}

/** The fault of an answer that cannot be parsed. */
export function badAnswer(why: string, { provider }: Pick<Endpoint, "provider">): Fault {
  const hint = "Try again; if the error remains, check the base URL and that the model can use tools.";
  return {
    code: "MODEL_BAD_ANSWER",
    message: withFullStop(`${provider} sent an invalid answer: ${why}`),
    hint,
    retryable: true,
  };
}

/** The fault of an answer that is too large to be one; asking again would only fetch it again. */
export const largeAnswer = ({ message }: LargeAnswerError, endpoint: Pick<Endpoint, "provider">): Fault => ({
  ...badAnswer(message, endpoint),
  retryable: false,
});

/** The fault of an answer that ended early. */
export function brokenOff({ provider }: Pick<Endpoint, "provider">): Fault {
  return {
    code: "MODEL_NETWORK",
    message: `The answer of ${provider} ended early.`,
    hint: "Try again.",
    retryable: true,
  };
}

/** The fault of an aborted turn; it is not shown, because the caller aborted the turn. */
export const abortedFault: Fault = { code: "MODEL_NETWORK", message: "the turn was aborted", retryable: false };

/** The fault of an answer that the provider's content filter stopped. */
export function refused({ provider }: Pick<Endpoint, "provider">, why = ""): Fault {
  const message = `${provider} stopped the answer with its content filter${why === "" ? "." : `: ${why}`}`;
  return {
    code: "MODEL_REFUSED",
    message,
    hint: "Word the task differently, or choose another model.",
    retryable: false,
  };
}

/** The fault of a prompt that is longer than the model can read. */
export function tooLong({ provider }: Pick<Endpoint, "provider">): Fault {
  return { ...kinds.context({ provider }), message: `The prompt is too long for the model of ${provider}.` };
}

const LONGEST_MESSAGE = 300;

/** Text of a provider made safe to show: no key, no control characters, one short line. */
function sayable(text: string, { key, headers }: Endpoint): string {
  const secrets = [...(key === undefined ? [] : [key]), ...Object.values(headers)];
  const clean = sanitize(createRedactor(secrets).text(text))
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  return clean.length > LONGEST_MESSAGE ? `${clean.slice(0, LONGEST_MESSAGE)}…` : clean;
}

/** How long the provider asks to wait: in milliseconds, seconds, or until a date; Google says it in the body. */
function retryAfter(headers: ErrorResponse["headers"], body: string): number | undefined {
  const header = (name: string): string | undefined => [headers[name]].flat()[0];
  const exact = Number(header("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(exact) && exact >= 0) return Math.ceil(exact);
  const after = header("retry-after") ?? /"retryDelay":\s*"([\d.]+)s"/.exec(body)?.[1];
  if (after === undefined) return undefined;
  const seconds = Number(after);
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(after) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, Math.ceil(ms)) : undefined;
}

const networkRows: readonly Readonly<{ codes: RegExp; retryable: boolean; hint(endpoint: Endpoint): string }>[] = [
  {
    codes: /^ECONNREFUSED$/,
    retryable: true,
    hint: ({ local, provider, baseURL }) =>
      local
        ? `Is ${provider} running at ${withoutLogin(baseURL)}?`
        : `Nothing answers at ${withoutLogin(baseURL)}: check the address.`,
  },
  {
    codes: /^(ENOTFOUND|EINVAL|ERR_INVALID_URL)$/,
    retryable: false,
    hint: ({ baseURL }) => `Check the address ${withoutLogin(baseURL)} and the network.`,
  },
  {
    codes: /^BAD_HTTP$/,
    retryable: true,
    hint: ({ baseURL }) =>
      `Check that an HTTP server answers at ${withoutLogin(baseURL)}, and that http or https is right.`,
  },
  {
    codes: /^ERR_INVALID_CHAR$/,
    retryable: false,
    hint: () => "Check the key and the headers in the settings: a line end or a control character cannot be sent.",
  },
  {
    codes: /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|^EPROTO$/,
    retryable: false,
    hint: ({ baseURL }) => `No TLS server answers at ${withoutLogin(baseURL)}: use http:// if it has no certificate.`,
  },
  {
    codes: /ALTNAME_INVALID/,
    retryable: false,
    hint: ({ baseURL }) => `The certificate is for another host: check the address ${withoutLogin(baseURL)}.`,
  },
  {
    codes: /CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/,
    retryable: false,
    hint: () =>
      "The certificate is not valid today: check the date of this machine, or ask the provider for a new one.",
  },
  {
    codes: /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|TLS|SSL/,
    retryable: false,
    hint: () => "The certificate is not trusted here: set NODE_EXTRA_CA_CERTS to your authority's file.",
  },
];

function codeOf(thrown: unknown): string {
  for (let error: unknown = thrown, depth = 0; isRecord(error) && depth < 5; error = error["cause"], depth += 1) {
    if (typeof error["code"] === "string") return error["code"];
  }
  return "";
}
