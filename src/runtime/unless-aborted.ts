/** What some work comes to; `undefined` when the signal aborts first, whatever becomes of the work then. */
export async function unlessAborted<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  let giveUp = (): void => {};
  const aborted = new Promise<undefined>((resolve) => {
    giveUp = (): void => resolve(undefined);
    signal.addEventListener("abort", giveUp, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}
