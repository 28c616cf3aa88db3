import { wrappedDataBefore } from "../../core/secrets/decode.ts";
import { OpenKey } from "../../core/secrets/private-key.ts";
import { REDACTED } from "../../core/secrets/redact.ts";

/** Redacts a text stream, including secrets that arrive in pieces. */
export type RedactedStream = Readonly<{
  /** The part of the text that can be written now. */
  take(chunk: Uint8Array): string;
  /** The rest of the text that was held back. */
  rest(): string;
}>;

/** Maximum length of a secret. */
const LONGEST_SECRET = 8_192;
/** Maximum length of an incomplete line that is held back until its end arrives. */
const LONGEST_LINE = 8 * LONGEST_SECRET;

/**
 * Redacts a stream. An incomplete line is held back, because a secret in it may be incomplete. Lines of encoded data
 * are held back while the next line may continue them. Of an endless line, and of endless encoded data, only a part of
 * the maximum length of a secret is held back.
 */
export function redactedStream(redact: (text: string) => string): RedactedStream {
  const decoder = new TextDecoder();
  let held = "";
  const key = new OpenKey();
  const clean = (text: string): string => redact(key.take(text, REDACTED));
  return {
    take: (chunk) => {
      held += decoder.decode(chunk, { stream: true });
      const end = wrappedDataBefore(held, held.lastIndexOf("\n") + 1);
      if (end > 0) {
        const whole = clean(held.slice(0, end));
        held = held.slice(end);
        return whole;
      }
      if (held.length <= LONGEST_LINE) return "";
      const whole = clean(held);
      held = key.isOpen ? "" : whole.slice(-LONGEST_SECRET);
      return key.isOpen ? whole : whole.slice(0, -LONGEST_SECRET);
    },
    rest: () => {
      const last = clean(held + decoder.decode());
      held = "";
      return last;
    },
  };
}
