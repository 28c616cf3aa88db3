import { createContext, Script } from "node:vm";

/** How long one comparison may take. */
const PATTERN_MS = 200;
/** Time limit of the second attempt to match: a busy machine may have delayed the first attempt. */
const AGAIN_MS = 1_000;

/**
 * A regular expression in a schema from outside. Some patterns need exponential time; such a pattern is stopped and
 * counts as not matching. A pattern with at most one simple repetition needs no time limit.
 */
export function boundedPattern(source: string, flags: string): { test(text: string): boolean } {
  const pattern = new RegExp(source, flags);
  const isPlain = (source.match(/[*+{]/g) ?? []).length <= 1 && !/\)[*+{?]|\\[1-9k]/.test(source);
  if (isPlain) return pattern;
  let isSlow = false; // a pattern that was stopped twice gets no second attempt
  const test = (text: string): boolean => {
    const fits = guarded(pattern, text, PATTERN_MS) ?? (isSlow ? undefined : guarded(pattern, text, AGAIN_MS));
    isSlow ||= fits === undefined;
    return fits === true;
  };
  return { test };
}

/** Whether the pattern matches; `undefined`: it took too long. */
function guarded(pattern: RegExp, text: string, timeout: number): boolean | undefined {
  try {
    return COMPARE.runInContext(createContext({ pattern, text }), { timeout }) === true;
  } catch {
    return undefined;
  }
}

const COMPARE = new Script("pattern.test(text)");
