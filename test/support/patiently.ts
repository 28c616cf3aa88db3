/**
 * For what has to begin before a limit of time strikes: tried with tight limits, then with ten and with a hundred times as
 * much time. A slow machine needs more; what is wrong stays wrong.
 */
export async function patiently<T>(attempt: (times: number) => Promise<T>): Promise<T> {
  for (const times of [1, 10]) {
    try {
      return await attempt(times);
    } catch {
      // not even begun, perhaps
    }
  }
  return attempt(100);
}
