import { createAnswerSize } from "./answer-size.ts";

/** Splits a text stream into the data of its server-sent events. */
export type EventReader = Readonly<{
  /** The data of the events that this piece completes. */
  push(piece: string): string[];
  /** The data of an event that the end of the stream completes. */
  end(): string[];
}>;

/**
 * A parser for one stream of server-sent events. Event names, ids and comments are dropped; the type of an event is in
 * its data. Each character is searched once, however the stream is cut into pieces. Throws a `LargeAnswerError` when an
 * event or the stream is too large.
 */
export function createEventReader(): EventReader {
  /** The pieces of an event that is not complete yet. */
  let open: string[] = [];
  const size = createAnswerSize();
  const keep = (part: string): void => {
    size.grow(part.length);
    if (part !== "") open.push(part);
  };
  const close = (found: string[]): void => {
    const data = dataOf(open.length === 1 ? open[0]! : open.join(""));
    if (data !== undefined) found.push(data);
    open = [];
    size.endEvent();
  };
  return {
    push: (piece) => {
      const text = piece.includes("\r") ? piece.replaceAll("\r", "") : piece;
      const found: string[] = [];
      let from = 0;
      if (text.startsWith("\n") && open.at(-1)?.endsWith("\n")) {
        close(found);
        from = 1;
      }
      for (let at = text.indexOf("\n\n", from); at !== -1; at = text.indexOf("\n\n", from)) {
        keep(text.slice(from, at));
        close(found);
        from = at + 2;
      }
      keep(text.slice(from));
      return found;
    },
    end: () => {
      const found: string[] = [];
      open = [open.join("").trimEnd()];
      close(found);
      return found;
    },
  };
}

function dataOf(event: string): string | undefined {
  const at = event.startsWith("data:") ? 0 : event.indexOf("\ndata:") + 1;
  if (at === 0 && !event.startsWith("data:")) return undefined;
  const end = event.indexOf("\n", at);
  const from = at + (event.charCodeAt(at + 5) === SPACE ? 6 : 5);
  if (end === -1) return event.slice(from);
  const lines = event
    .slice(at)
    .split("\n")
    .filter((line) => line.startsWith("data:"));
  return lines.map((line) => line.slice(line.charCodeAt(5) === SPACE ? 6 : 5)).join("\n");
}

const SPACE = 0x20;
