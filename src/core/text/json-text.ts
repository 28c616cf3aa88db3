/**
 * A value as JSON that is safe for terminals and line readers: line separators, control sequences and
 * direction marks are escaped. Parsing gives the same value.
 */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(TROUBLE, escaped);
}

const TROUBLE = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
