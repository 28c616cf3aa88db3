/**
 * The characters of names in any script, for the `u` flag: letters, marks and digits. A mark is a part of its letter,
 * so no name begins with one.
 */
export const LETTER = String.raw`\p{L}\p{N}`;
export const LETTER_OR_MARK = String.raw`\p{L}\p{M}\p{N}`;

/**
 * A pattern for names of these characters, with spaces only inside. `most`: the maximum number of characters (not
 * bytes).
 */
export function namePattern(first: string, rest: string, most: number, not = ""): RegExp {
  return new RegExp(`^${not}[${first}](?:[${rest} ]{0,${most - 2}}[${rest}])?$`, "u");
}

/** Scripts that may be mixed in one word, because their letters do not look alike. */
const TOGETHER = ["Latin", "Han", "Hiragana", "Katakana", "Hangul", "Bopomofo"] as const;
const ALONE = [
  "Cyrillic",
  "Greek",
  "Armenian",
  "Hebrew",
  "Arabic",
  "Devanagari",
  "Thai",
  "Georgian",
  "Cherokee",
] as const;
const scripts = [...TOGETHER, ...ALONE].map((script) => ({ script, has: new RegExp(`\\p{Script=${script}}`, "u") }));

/** The first word of a name that mixes scripts whose letters look alike, as a Cyrillic `а` among Latin letters. */
export function mixedWord(name: string): string | undefined {
  if (!/[^ -~]/.test(name)) return undefined; // most names are ASCII, and the search by script is slow
  return name.split(/[^\p{L}\p{M}]+/u).find((word) => {
    const found = scripts.filter(({ has }) => has.test(word)).map(({ script }) => script);
    return found.length > 1 && !found.every((script) => TOGETHER.some((each) => each === script));
  });
}
