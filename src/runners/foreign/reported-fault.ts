import type { Fault } from "../../core/outcome/outcome.ts";

type Kind = Readonly<{ code: Fault["code"]; retryable: boolean; hint(tool: string): string; words: RegExp }>;

/**
 * Matches an HTTP status where a program's output quotes one: "API Error: 401", "status code 429", "HTTP 503", `"code":
 * 529`.
 */
const status = (codes: string): string => `\\b(?:api error|http|status|code)(?: code)?["']?[:= ]{1,3}(?:${codes})\\b`;

/**
 * Patterns for refusals by a program's provider. The first match counts: exhausted credit is often reported as 429,
 * too.
 */
const kinds: readonly Kind[] = [
  {
    code: "MODEL_RATE_LIMIT",
    retryable: false,
    hint: (tool) => `Add credit to the account that ${tool} uses.`,
    words: new RegExp(
      `insufficient[_ ](?:quota|balance|credits?)|credit balance is too low|billing_error|${status("402")}`,
      "i",
    ),
  },
  {
    code: "MODEL_AUTH",
    retryable: false,
    hint: (tool) => `Sign in to ${tool} again, or correct its key.`,
    words: new RegExp(
      `authentication_error|permission_error|(?:invalid|incorrect) (?:x-)?api[- ]key|oauth token has expired|please run \\/login|not logged in|${status("401|403")}`,
      "i",
    ),
  },
  {
    code: "MODEL_RATE_LIMIT",
    retryable: true,
    hint: (tool) => `Wait, or raise the quota of the account that ${tool} uses.`,
    words: new RegExp(
      `rate_limit_(?:error|exceeded)|resource_exhausted|too many requests|(?:usage|rate) limit (?:reached|exceeded)|hit your usage limit|${status("429")}`,
      "i",
    ),
  },
  {
    code: "MODEL_OVERLOADED",
    retryable: true,
    hint: () => "Wait, or choose another runner.",
    words: new RegExp(
      `overloaded_error|^\\w+ says: overloaded\\W*$|service unavailable|${status("50[0234]|529")}`,
      "i",
    ),
  },
  {
    code: "MODEL_NETWORK",
    retryable: true,
    hint: () => "Check the connection.",
    words: /\b(?:ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT)\b/,
  },
];

/**
 * The provider fault in the error message of a program; `undefined` for any other failure. Programs report no codes for
 * such faults, so the text decides.
 */
export function reportedFault(tool: string, { code, message }: Fault): Fault | undefined {
  if (code !== "AGENT_REPORTED" && code !== "CRASHED") return undefined;
  const kind = kinds.find(({ words }) => words.test(message));
  return kind && { code: kind.code, message, retryable: kind.retryable, hint: kind.hint(tool) };
}
