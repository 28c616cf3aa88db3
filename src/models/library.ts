import type { Model } from "../core/model.ts";

/** One model for all ids of a provider: the library wants an object for each, which is made once. */
export function perModel(make: (id: string) => Model): Model {
  const made = new Map<string, Model>();
  return (request, signal) => {
    const model = made.get(request.model) ?? make(request.model);
    made.set(request.model, model);
    return model(request, signal);
  };
}

/**
 * A fetch for the library. It follows no redirect, which would take the key along to another place, and says so when
 * an answer is not the stream that was asked for, which the library would take for an empty one.
 */
export const streamOnly: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: "manual" });
  const type = response.headers.get("content-type") ?? "";
  if (!response.ok || response.body === null || type.includes("text/event-stream")) return response;
  await response.body.cancel();
  throw new NotAStreamError(`it is ${type || "of no type"} and not a stream`);
};

/** An answer that is something else than was asked for. */
export class NotAStreamError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NotAStreamError";
  }
}
