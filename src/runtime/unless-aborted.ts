/** What some work comes to; `undefined` when the signal aborts first, whatever becomes of the work then. */
export function unlessAborted<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => resolve(undefined);
    if (signal.aborted) return giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    const done = (): void => signal.removeEventListener("abort", giveUp);
    work.then(
      (value) => {
        done();
        resolve(value);
      },
      (error: unknown) => {
        done();
        reject(error as Error);
      },
    );
  });
}
