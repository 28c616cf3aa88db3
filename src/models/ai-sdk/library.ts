import type { Model } from "../../core/model/model.ts";
import { createAnswerSize } from "../wires/answer-size.ts";
import type { Endpoint } from "../wires/endpoint.ts";

/** One model for all ids of a provider; the library's object for each id is created once. */
export function perModel(make: (id: string) => Model): Model {
  const made = new Map<string, Model>();
  return (request, signal) => {
    const model = made.get(request.model) ?? make(request.model);
    made.set(request.model, model);
    return model(request, signal);
  };
}

/**
 * A fetch for the library. It does not follow redirects, which would send the key to another host. It throws if the
 * response is not an event stream, because the library would treat such a response as an empty answer.
 */
export function streamOnly({ proxy, ca }: Pick<Endpoint, "proxy" | "ca">): typeof fetch {
  let way: Promise<RequestInit> | undefined;
  return async (input, init) => {
    const through = proxy === undefined && ca === undefined ? {} : await (way ??= dispatcherFor({ proxy, ca }));
    const response = await fetch(input, { ...init, redirect: "manual", ...through });
    const type = response.headers.get("content-type") ?? "";
    if (!response.ok || response.body === null) return response;
    if (type.includes("text/event-stream")) return new Response(response.body.pipeThrough(sizeLimit()), response);
    await response.body.cancel();
    throw new NotAStreamError(`the answer has ${type ? `the type ${type}` : "no type"} and is not a stream`);
  };
}

/**
 * Loads undici with the first request that needs it: the library's fetch accepts a dispatcher only from that package.
 */
async function dispatcherFor({
  proxy,
  ca,
}: Readonly<{ proxy: string | undefined; ca: readonly string[] | undefined }>): Promise<RequestInit> {
  const loaded = await import("undici");
  const { Agent, ProxyAgent } = (loaded.default ?? loaded) as typeof loaded;
  const tls = ca === undefined ? {} : { ca: [...ca] };
  const dispatcher =
    proxy === undefined ? new Agent({ connect: tls }) : new ProxyAgent({ uri: proxy, requestTls: tls, proxyTls: tls });
  return { dispatcher } as unknown as RequestInit;
}

/** Passes an event stream on, and ends it with a `LargeAnswerError` when it is too large. */
function sizeLimit(): TransformStream<Uint8Array, Uint8Array> {
  const size = createAnswerSize();
  return new TransformStream({
    transform: (chunk, sink) => {
      const end = lastEventEnd(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      size.grow(end);
      if (end > 0) size.endEvent();
      size.grow(chunk.byteLength - end);
      sink.enqueue(chunk);
    },
  });
}

/** The position behind the last event that ends in these bytes; 0 without one. */
const lastEventEnd = (bytes: Buffer): number =>
  Math.max(...["\n\n", "\r\n\r\n"].map((mark) => bytes.lastIndexOf(mark) + (bytes.includes(mark) ? mark.length : 1)));

/** The provider answered with something other than the requested event stream. */
export class NotAStreamError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NotAStreamError";
  }
}
