/** Ends a text with a full stop unless it already ends like a sentence, so that another sentence can follow it. */
export function withFullStop(text: string): string {
  const end = text.trimEnd();
  return end === "" || /[.!?:;…。！？]["'”’)\]`]*$/u.test(end) ? end : `${end}.`;
}
