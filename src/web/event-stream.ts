import type { ServerResponse } from "node:http";
import { jsonText } from "../core/text/json-text.ts";
import { safeHeaders } from "./responses.ts";

/** Sends server-sent events to one browser tab. */
export type EventStream = Readonly<{
  /** Sends a message. Returns false when the client is too slow; `caughtUp` is called once it can receive again. */
  send(event: string, data: unknown, id?: string): boolean;
  /** Resolves with true when everything was handed to the network, and with false when the client has disconnected. */
  flushed(): Promise<boolean>;
  close(): void;
}>;

export type EventStreamOptions = Readonly<{
  /** Called when a slow client can receive again. It has missed messages. */
  caughtUp(): void;
  closed(): void;
}>;

/** If more bytes than this are waiting to be sent, the client gets no more messages until it has read them. */
const MOST_UNSENT = 512 * 1024;
/**
 * A client that has not read its unsent messages within this time is disconnected. A connection with about 8 KB per
 * second is fast enough.
 */
const STALLED_MS = 90_000;
const HEARTBEAT_MS = 10_000;

export function openEventStream(response: ServerResponse, { caughtUp, closed }: EventStreamOptions): EventStream {
  response.writeHead(200, {
    ...safeHeaders,
    "content-type": "text/event-stream; charset=utf-8",
    "x-accel-buffering": "no",
  });
  response.write("retry: 500\n\n");
  let behind = false;
  let missed = false;
  let stalled: NodeJS.Timeout | undefined;
  const write = (text: string): void => {
    if (!response.write(text)) stalled ??= setTimeout(() => response.destroy(), STALLED_MS);
  };
  const beat = setInterval(() => {
    if (!behind) write("event: beat\ndata: 1\n\n");
  }, HEARTBEAT_MS);
  const end = (): void => {
    clearInterval(beat);
    clearTimeout(stalled);
  };
  response.on("drain", () => {
    clearTimeout(stalled);
    stalled = undefined;
    behind = false;
    if (!missed) return;
    missed = false;
    caughtUp();
  });
  response.once("close", () => {
    end();
    closed();
  });
  return {
    flushed: () =>
      new Promise((done) => {
        if (response.destroyed || !response.writableNeedDrain) return done(!response.destroyed);
        const stop = (there: boolean) => (): void => {
          response.off("drain", drained);
          response.off("close", gone);
          done(there);
        };
        const [drained, gone] = [stop(true), stop(false)];
        response.once("drain", drained);
        response.once("close", gone);
      }),
    send: (event, data, id) => {
      if (response.destroyed) return false;
      if (behind) {
        missed = true;
        return false;
      }
      // The JSON text is one line: line breaks in strings are escaped.
      write(`${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${jsonText(data)}\n\n`);
      behind = response.writableLength > MOST_UNSENT;
      return true;
    },
    close: () => {
      end();
      response.end();
    },
  };
}
