import type { ServerResponse } from "node:http";
import { jsonText } from "../core/text/json-text.ts";
import { safeHeaders } from "./responses.ts";

/** Server-sent events to one browser tab. */
export type EventStream = Readonly<{
  /** Sends a message; false: the client does not keep up, and nothing more is sent before `ready`. */
  send(event: string, data: unknown, id?: string): boolean;
  /** True: the client has received what was sent. */
  ready(): boolean;
  close(): void;
}>;

export type EventStreamOptions = Readonly<{
  /** Called when a client that did not keep up can receive again: it missed messages. */
  caughtUp(): void;
  closed(): void;
}>;

/** More unsent bytes than this, and the client gets no more until it has read them. */
const MOST_UNSENT = 512 * 1024;
/** A client that reads nothing for this long is disconnected. */
const STALLED_MS = 30_000;
const HEARTBEAT_MS = 10_000;

export function openEventStream(response: ServerResponse, { caughtUp, closed }: EventStreamOptions): EventStream {
  response.writeHead(200, {
    ...safeHeaders,
    "content-type": "text/event-stream; charset=utf-8",
    "x-accel-buffering": "no",
  });
  response.write("retry: 500\n\n");
  let behind = false;
  let stalled: NodeJS.Timeout | undefined;
  const beat = setInterval(() => {
    if (!behind) response.write("event: beat\ndata: 1\n\n");
  }, HEARTBEAT_MS);
  const end = (): void => {
    clearInterval(beat);
    clearTimeout(stalled);
  };
  response.on("drain", () => {
    if (!behind) return;
    behind = false;
    clearTimeout(stalled);
    caughtUp();
  });
  response.once("close", () => {
    end();
    closed();
  });
  return {
    ready: () => !behind,
    send: (event, data, id) => {
      if (behind || response.destroyed) return false;
      // JSON has no line breaks outside of strings, and escapes them inside.
      response.write(`${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${jsonText(data)}\n\n`);
      if (response.writableLength > MOST_UNSENT) {
        behind = true;
        stalled = setTimeout(() => response.destroy(), STALLED_MS);
      }
      return true;
    },
    close: () => {
      end();
      response.end();
    },
  };
}
