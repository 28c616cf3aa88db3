import type { Fault } from "../../core/outcome/outcome.ts";
import { isRecord, parseJson } from "../../core/text/json.ts";
import { type Endpoint, withoutLogin } from "./endpoint.ts";

/** The kinds of provider errors. */
export type FaultKind =
  | "auth"
  | "forbidden"
  | "credit"
  | "rate"
  | "overloaded"
  | "unknown"
  | "context"
  | "refused"
  | "request"
  | "redirect";

type Meaning = Omit<Fault, "message">;

/** For each kind of provider error: its code, whether a retry makes sense, and a hint. */
export const kinds: Readonly<Record<FaultKind, (endpoint: Pick<Endpoint, "provider"> & Partial<Endpoint>) => Meaning>> =
  {
    auth: ({ provider, keyName }) => ({
      code: "MODEL_AUTH",
      hint:
        keyName === undefined
          ? `${provider} requires a key: set one, or use --model ollama/...`
          : `${keyName} was not accepted: correct it, or use --model ollama/...`,
      retryable: false,
    }),
    forbidden: ({ keyName }) => ({
      code: "MODEL_AUTH",
      hint: `${keyName ?? "The key"} has no permission for this: request access, or choose another model.`,
      retryable: false,
    }),
    credit: ({ provider }) => ({
      code: "MODEL_RATE_LIMIT",
      hint: `The credit at ${provider} is used up: add credit, or choose another model.`,
      retryable: false,
    }),
    rate: () => ({
      code: "MODEL_RATE_LIMIT",
      hint: "Wait, lower --concurrency, or choose another model.",
      retryable: true,
    }),
    overloaded: () => ({
      code: "MODEL_OVERLOADED",
      hint: "Try again later, or choose another model.",
      retryable: true,
    }),
    unknown: ({ provider, baseURL }) => ({
      code: "MODEL_UNKNOWN",
      hint: `Check the name of the model${baseURL === undefined ? "" : ` and the address ${withoutLogin(baseURL)}`}; \`subcrew models\` shows the settings of ${provider}.`,
      retryable: false,
    }),
    context: () => ({
      code: "MODEL_CONTEXT",
      hint: "Give the agent less to read, split the task, or choose a model with a larger window.",
      retryable: false,
    }),
    refused: () => ({
      code: "MODEL_REFUSED",
      hint: "Word the task differently, or choose another model.",
      retryable: false,
    }),
    request: () => ({
      code: "MODEL_BAD_ANSWER",
      hint: "The provider did not accept the request: check that the model supports tools and the requested thinking level.",
      retryable: false,
    }),
    redirect: ({ provider }) => ({
      code: "MODEL_NETWORK",
      hint: `The address of ${provider} has moved: set the new address; the key is not sent to another address automatically.`,
      retryable: false,
    }),
  };

const TOO_LONG =
  /context_length_exceeded|model_context_window|maximum context length|prompt is too long|input is too long|exceeds? (?:the )?(?:maximum|max|model'?s?)[\w\s']*(?:context|tokens|token count|length)|too many (?:input )?tokens|context (?:window|size|length) (?:is )?exceed/i;
const FILTERED = /content_filter|content_policy|content management policy|safety system|flagged as|prohibited_content/i;
const NO_CREDIT =
  /insufficient_quota|billing|credit balance|insufficient balance|exceeded your current quota|out of credits/i;
const NO_SUCH_MODEL =
  /model_not_found|not_found_error|no such model|model[^.]{0,80}(?:does not exist|not found|is not found)/i;
const NO_KEY =
  /api[ _-]?key not valid|API_KEY_INVALID|invalid[ _](?:x-)?api[ _-]?key|authentication_error|invalid_api_key|UNAUTHENTICATED/i;
const BUSY = /overloaded|UNAVAILABLE|capacity|temporarily/i;
const SLOW_DOWN = /rate_limit|RESOURCE_EXHAUSTED|too many requests/i;

/** The text of a provider error; `all` is its full text. */
export type ErrorText = Readonly<{ message: string; all: string; status?: number }>;

/** The kind of an error, by its status and by the words that providers use. */
export function faultKindOf(status: number, { all }: ErrorText): FaultKind {
  if (status >= 300 && status < 400) return "redirect";
  if (status === 401) return "auth";
  if (status === 402 || ([400, 403, 429].includes(status) && NO_CREDIT.test(all) && !/RESOURCE_EXHAUSTED/.test(all)))
    return "credit";
  if (status === 429 || SLOW_DOWN.test(all)) return "rate";
  if (status === 413 || (status < 500 && TOO_LONG.test(all))) return "context";
  if (status === 404 || NO_SUCH_MODEL.test(all)) return "unknown";
  if (status === 403) return NO_KEY.test(all) ? "auth" : "forbidden";
  if (status === 408 || status === 409 || status === 425 || status >= 500 || BUSY.test(all)) return "overloaded";
  if (NO_KEY.test(all)) return "auth";
  return FILTERED.test(all) ? "refused" : "request";
}

/** How many characters of an error are read. */
const LONGEST_READ = 20_000;

/** The message inside an error response, in any of the formats that providers use. */
export function saidIn(given: unknown): ErrorText {
  const value = typeof given === "string" ? parsed(given) : given;
  const all = (typeof given === "string" ? given : (JSON.stringify(given) ?? "")).slice(0, LONGEST_READ);
  const first: unknown = Array.isArray(value) ? value[0] : value;
  const outer = isRecord(first) ? first : {};
  const error = isRecord(outer["error"]) ? outer["error"] : outer;
  const message = [error["message"], outer["message"], outer["detail"], outer["error"]].find(
    (one) => typeof one === "string",
  );
  const status = [error["code"], error["status"], outer["status"]].find((one) => typeof one === "number" && one >= 300);
  return {
    message: typeof message === "string" ? message.slice(0, LONGEST_READ) : all,
    all,
    ...(typeof status === "number" && { status }),
  };
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
