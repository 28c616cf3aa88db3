import { couldNotBeAsked, type GuardedOpen, type OpenAnswer, type WebRequest } from "./guarded-request.ts";

/** The rules for every request that a library makes through `asFetch`. */
export type FetchRules = Pick<WebRequest, "check" | "silenceMs" | "allowHosts"> &
  Readonly<{
    /** Called before each request; throws to refuse it. */
    before?(url: string): Promise<void>;
    /** The maximum size of one answer; the rest is not read. */
    maxBytes?: number;
  }>;

const MOST_BYTES = 20_000_000;

/**
 * A `fetch` that applies the network rules, for libraries that accept a `fetch`. Request bodies are texts and forms;
 * responses are streamed.
 */
export function asFetch(open: GuardedOpen, { before, maxBytes = MOST_BYTES, ...rules }: FetchRules = {}): typeof fetch {
  return async (input, init = {}) => {
    const url = input instanceof Request ? input.url : String(input);
    const signal = init.signal ?? new AbortController().signal;
    await before?.(url);
    const request: WebRequest = {
      ...rules,
      url,
      method: init.method ?? "GET",
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(typeof init.body === "string" && { body: init.body }),
      ...(init.body instanceof URLSearchParams && { body: init.body.toString() }),
    };
    const answer = await open(request, signal);
    const { status, headers } = answer;
    if (status < 200 || status > 599) {
      await answer.close();
      throw new Error(`${new URL(answer.url).host} answered with the invalid status ${status}`);
    }
    const kept = Object.entries(headers).filter(([name]) => !UNPACKED.has(name));
    if (EMPTY.has(status)) await answer.close();
    return new Response(EMPTY.has(status) ? null : streamOf(answer, maxBytes), { status, headers: kept });
  };
}

/** Headers that describe the encoded body and are wrong after the body was decoded. */
const UNPACKED: ReadonlySet<string> = new Set(["content-encoding", "content-length", "transfer-encoding"]);
const EMPTY: ReadonlySet<number> = new Set([204, 205, 304]);

function streamOf({ url, body, close }: OpenAnswer, maxBytes: number): ReadableStream<Uint8Array> {
  const chunks = (async function* () {
    let left = maxBytes;
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        left -= chunk.length;
        if (left < 0) break;
        yield new Uint8Array(chunk);
      }
    } catch (error) {
      throw couldNotBeAsked(new URL(url).host, error);
    } finally {
      await close();
    }
    if (left < 0) throw new Error(`the answer of ${new URL(url).host} is longer than ${maxBytes} bytes`);
  })();
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const next = await chunks.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
    cancel: async () => {
      await close();
      await chunks.return();
    },
  });
}
