/** Text that is written on as it comes, with secrets taken out although they may come in pieces. */
export type RedactedStream = Readonly<{
  /** What of it can be written now. */
  take(chunk: Uint8Array): string;
  /** What was still held back. */
  rest(): string;
}>;

/** No secret that is looked for is longer. */
const LONGEST_SECRET = 8_192;
/** A line that is longer is not waited for. */
const LONGEST_LINE = 8 * LONGEST_SECRET;

/** What has no line end yet waits, for its secret may not be whole; of a line without end only as much as a secret can be long. */
export function redactedStream(redact: (text: string) => string): RedactedStream {
  const decoder = new TextDecoder();
  let held = "";
  return {
    take: (chunk) => {
      held += decoder.decode(chunk, { stream: true });
      const end = held.lastIndexOf("\n") + 1;
      if (end > 0) {
        const whole = redact(held.slice(0, end));
        held = held.slice(end);
        return whole;
      }
      if (held.length <= LONGEST_LINE) return "";
      const clean = redact(held);
      held = clean.slice(-LONGEST_SECRET);
      return clean.slice(0, -LONGEST_SECRET);
    },
    rest: () => {
      const last = redact(held + decoder.decode());
      held = "";
      return last;
    },
  };
}
