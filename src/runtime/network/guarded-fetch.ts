import { startTimer } from "../async/long-timer.ts";
import { following, stopped } from "../async/cancel.ts";
import {
  couldNotBeAsked,
  createGuardedOpen,
  type NetworkParts,
  type NetworkRules,
  type OpenAnswer,
  type WebRequest,
} from "./guarded-request.ts";

export type { NetworkParts, NetworkRules, WebRequest } from "./guarded-request.ts";

/** The decompressed response. */
export type WebAnswer = Readonly<{
  /** The address of the response, after redirects. */
  url: string;
  status: number;
  /** The headers; names are in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** True: the body was longer than the limit and was cut. */
  cut: boolean;
}>;

/**
 * Sends a request to a server on the public internet. Throws a refusal with a code if the rules forbid the request, or
 * an error with the cause.
 */
export type GuardedFetch = (request: WebRequest, signal: AbortSignal) => Promise<WebAnswer>;

export const MAX_ANSWER_BYTES = 5_000_000;
const TOTAL_MS = 30_000;

/** The network access of tools: each request must have its whole response within half a minute. */
export function createGuardedFetch(rules: NetworkRules = {}, parts: NetworkParts = {}): GuardedFetch {
  const open = createGuardedOpen(rules, parts);
  return async (request, signal) => {
    const limit = parts.timeoutMs ?? TOTAL_MS;
    const { controller, release } = following(signal);
    const clear = startTimer(() => controller.abort(stopped(`no complete answer within ${limit / 1_000} s`)), limit);
    try {
      return await whole(await open(request, controller.signal));
    } catch (error) {
      if (controller.signal.aborted && !signal.aborted)
        throw new Error(`there was no complete answer within ${limit / 1_000} s`, { cause: error });
      throw error;
    } finally {
      clear();
      release();
    }
  };
}

/** The response with its body up to the limit, which counts decompressed bytes. */
async function whole({ url, status, headers, body, close }: OpenAnswer): Promise<WebAnswer> {
  const chunks: Buffer[] = [];
  let left = MAX_ANSWER_BYTES;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, left));
      left -= chunk.length;
      if (left < 0) break;
    }
  } catch (error) {
    throw couldNotBeAsked(new URL(url).host, error);
  } finally {
    await close();
  }
  return { url, status, headers, body: Buffer.concat(chunks), cut: left < 0 };
}
