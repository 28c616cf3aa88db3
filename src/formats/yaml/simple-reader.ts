/** A text and the position of the simple reader in it. */
export type Reader = { readonly text: string; at: number; keysLeft: number; broken?: string | undefined };

/** Words that YAML reads as a boolean or null instead of text, so they cannot be simple keys. */
export const NO_WORDS: ReadonlySet<string> = new Set("true True TRUE false False FALSE null Null NULL".split(" "));

export function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}

/** The number of spaces at a position. */
export function indentAt(text: string, start: number): number {
  let at = start;
  while (text.charCodeAt(at) === SPACE) at++;
  return at - start;
}

const SPACE = 32;

/** Skips to the next non-empty line. */
export function skipEmpty(reader: Reader): void {
  const { text } = reader;
  while (reader.at < text.length) {
    const first = text.charCodeAt(reader.at + indentAt(text, reader.at));
    if (first !== NEWLINE && first !== HASH && !Number.isNaN(first)) return;
    reader.at = lineEnd(text, reader.at) + 1;
  }
}

const NEWLINE = 10;
const HASH = 35;
