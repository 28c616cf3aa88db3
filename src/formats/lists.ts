/** A list, or words with commas between them; `undefined` for anything else. Entries that are no text are dropped. */
export function listOf(value: unknown): string[] | undefined {
  if (Array.isArray(value))
    return value
      .flat(3)
      .filter((item) => typeof item === "string")
      .map(trim)
      .filter(Boolean);
  return typeof value === "string" ? wordsOf(value) : undefined;
}

/** 000's reader of such lists: an empty one counts as none given. */
export function parseArrayOrCSV(value: unknown): string[] | undefined {
  const list = listOf(value);
  return list === undefined || list.length === 0 ? undefined : list;
}

/** Splits at commas that stand outside of parentheses: `Read, Agent(a, b)` is two. */
function wordsOf(value: string): string[] {
  const trimmed = value.trim();
  const bare = trimmed.startsWith("[") || trimmed.endsWith("]") ? trimmed.replace(/^\[|\]$/g, "") : trimmed;
  if (!bare.includes("(")) return bare.split(",").map(unquoted).filter(Boolean);
  const words: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at <= bare.length; at++) {
    const char = bare[at];
    if (char === "(") depth++;
    else if (char === ")") depth = Math.max(0, depth - 1);
    else if (char === undefined || (char === "," && depth === 0)) {
      words.push(bare.slice(start, at));
      start = at + 1;
    }
  }
  return words.map(unquoted).filter(Boolean);
}

const trim = (word: string): string => word.trim();

function unquoted(word: string): string {
  const bare = word.trim();
  return bare.endsWith('"') || bare.endsWith("'") ? bare.replace(/^(["'])(.*)\1$/, "$2") : bare;
}
