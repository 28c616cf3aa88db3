import { deferred } from "./deferred.ts";
import { onAbort } from "./on-abort.ts";

/** What some work comes to; `undefined` when the signal aborts first, whatever becomes of the work then. */
export async function unlessAborted<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) {
    work.then(undefined, () => {}); // what it comes to is of no interest, and must not be nobody's
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
