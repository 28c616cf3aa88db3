/** Parses a list or comma-separated words; `undefined` for anything else. Entries that are not text are dropped. */
export function listOf(value: unknown): string[] | undefined {
  if (typeof value === "string") return wordsOf(value);
  return Array.isArray(value) ? textsIn(value, DEEPEST) : undefined;
}

/** The texts in nested lists, as one list; `deeper` is how deep they may be nested. */
function textsIn(list: readonly unknown[], deeper: number): string[] {
  const texts: string[] = [];
  list.forEach((item) => {
    if (typeof item === "string") {
      const text = item.trim();
      if (text !== "") texts.push(text);
    } else if (Array.isArray(item) && deeper > 0) texts.push(...textsIn(item, deeper - 1));
  });
  return texts;
}

const DEEPEST = 3;

/**
 * Parses a list or comma-separated words as oh-my-pi does: an empty list counts as absent, and lists are not nested.
 */
export function parseArrayOrCSV(value: unknown): string[] | undefined {
  const list = Array.isArray(value) ? textsIn(value, 0) : listOf(value);
  return list === undefined || list.length === 0 ? undefined : list;
}

/** Splits at commas outside of parentheses: `Read, Agent(a, b)` gives two words. */
function wordsOf(value: string): string[] {
  const trimmed = value.trim();
  const bare = trimmed.startsWith("[") || trimmed.endsWith("]") ? trimmed.replace(/^\[|\]$/g, "") : trimmed;
  const words: string[] = [];
  for (const part of bare.includes("(") ? outsideOfParentheses(bare) : bare.split(",")) {
    const word = unquoted(part.trim());
    if (word !== "") words.push(word);
  }
  return words;
}

function outsideOfParentheses(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at <= text.length; at++) {
    const char = text[at];
    if (char === "(") depth++;
    else if (char === ")") depth = Math.max(0, depth - 1);
    else if (char === undefined || (char === "," && depth === 0)) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return parts;
}

const unquoted = (word: string): string =>
  word.endsWith('"') || word.endsWith("'") ? word.replace(/^(["'])(.*)\1$/, "$2") : word;
