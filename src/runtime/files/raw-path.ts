/**
 * A path as the kernel sees it: each character is one byte. A name on Linux need not be valid UTF-8, and an invalid
 * name cannot be opened by the text that a person sees.
 */
export type RawPath = string;

export const rawOf = (text: string): RawPath =>
  ASCII.test(text) ? text : Buffer.from(text, "utf8").toString("latin1");

/** The path as people read it. */
export const textOfRaw = (path: RawPath): string =>
  ASCII.test(path) ? path : Buffer.from(path, "latin1").toString("utf8");

/** The path as `node:fs` takes it. */
export const opened = (path: RawPath): string | Buffer => (ASCII.test(path) ? path : Buffer.from(path, "latin1"));

/** False for a path that is not valid UTF-8: it cannot be passed to programs as text. */
export const isText = (path: RawPath): boolean => rawOf(textOfRaw(path)) === path;

// biome-ignore lint/suspicious/noControlCharactersInRegex: a name may hold any of them
const ASCII = /^[\0-\x7f]*$/;
