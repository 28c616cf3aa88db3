import { deferred } from "./deferred.ts";
import { onAbort } from "./on-abort.ts";

/** The result of some work; `undefined` when the signal aborts first. */
export async function unlessAborted<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) {
    work.then(undefined, () => {}); // swallow the rejection; the result is no longer needed
    return undefined;
  }
  const { promise, resolve } = deferred<undefined>();
  const release = onAbort(signal, () => resolve(undefined));
  try {
    return await Promise.race([work, promise]);
  } finally {
    release();
  }
}
