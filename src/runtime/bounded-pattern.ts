import { createContext, Script } from "node:vm";

/** How long one comparison may take. */
const PATTERN_MS = 200;

/**
 * A pattern of a schema that somebody else wrote. Some patterns would keep the whole program busy for years; one that may
 * do so is stopped, and counts as not fitting. One that repeats one thing at most, and no group, needs no guard.
 */
export function boundedPattern(source: string, flags: string): { test(text: string): boolean } {
  const pattern = new RegExp(source, flags);
  const isPlain = (source.match(/[*+{]/g) ?? []).length <= 1 && !/\)[*+{?]|\\[1-9k]/.test(source);
  if (isPlain) return pattern;
  return { test: (text) => guarded(pattern, text) };
}

function guarded(pattern: RegExp, text: string): boolean {
  try {
    return COMPARE.runInContext(createContext({ pattern, text }), { timeout: PATTERN_MS }) === true;
  } catch {
    return false; // it took too long
  }
}

const COMPARE = new Script("pattern.test(text)");
