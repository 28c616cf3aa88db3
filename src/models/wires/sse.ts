/** Splits a text stream into the data of its server-sent events. */
export type EventReader = Readonly<{
  /** The data of the events that this piece completes. */
  push(piece: string): string[];
  /** The data of an event that the end of the stream completes. */
  end(): string[];
}>;

/**
 * A parser for one stream of server-sent events. Event names, ids and comments are dropped; the type of an event is in
 * its data.
 */
export function createEventReader(): EventReader {
  let rest = "";
  return {
    push: (piece) => {
      const seen = Math.max(0, rest.length - 1); // the search for the end of an event continues where the last one ended
      rest += piece.includes("\r") ? piece.replaceAll("\r", "") : piece;
      if (rest.length > LONGEST_EVENT) throw new Error("an event has no end");
      const found: string[] = [];
      let from = 0;
      for (let at = rest.indexOf("\n\n", seen); at !== -1; at = rest.indexOf("\n\n", from)) {
        const data = dataOf(rest.slice(from, at));
        if (data !== undefined) found.push(data);
        from = at + 2;
      }
      rest = from === 0 ? rest : rest.slice(from);
      return found;
    },
    end: () => {
      const data = dataOf(rest.trimEnd());
      rest = "";
      return data === undefined ? [] : [data];
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
const LONGEST_EVENT = 64 * 1_024 * 1_024;
