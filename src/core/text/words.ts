/** Splits a text into a list of words. */
export function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}
