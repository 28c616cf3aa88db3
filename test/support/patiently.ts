/**
 * For an action that has to begin before a time limit is reached: tried with short limits, then with ten and with a
 * hundred times as much time. A slow machine needs more; a real error stays an error.
 */
export async function patiently<T>(attempt: (times: number) => Promise<T>): Promise<T> {
  for (const times of [1, 10]) {
    try {
      return await attempt(times);
    } catch {
      // the action may have failed before it began
    }
  }
  return attempt(100);
}
