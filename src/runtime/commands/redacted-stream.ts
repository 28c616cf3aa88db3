import { endsInKey, withoutOpenKey } from "../../core/secrets/private-key.ts";
import { REDACTED } from "../../core/secrets/redact.ts";

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
  let inKey = false; // a private key can be longer than anything that is held back
  const clean = (text: string): string => {
    const open = inKey ? withoutOpenKey(text, REDACTED) : text;
    inKey = endsInKey(text, inKey);
    return redact(open);
  };
  return {
    take: (chunk) => {
      held += decoder.decode(chunk, { stream: true });
      const end = held.lastIndexOf("\n") + 1;
      if (end > 0) {
        const whole = clean(held.slice(0, end));
        held = held.slice(end);
        return whole;
      }
      if (held.length <= LONGEST_LINE) return "";
      const whole = clean(held);
      held = inKey ? "" : whole.slice(-LONGEST_SECRET);
      return inKey ? whole : whole.slice(0, -LONGEST_SECRET);
    },
    rest: () => {
      const last = clean(held + decoder.decode());
      held = "";
      return last;
    },
  };
}
