/** Quotes a text so that a POSIX shell reads it as one word. */
export const shellWord = (text: string): string =>
  /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
