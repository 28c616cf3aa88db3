import { PassThrough, type Readable } from "node:stream";

/** The time to answer requests that arrived before the client closed its end. */
const LAST_ANSWERS_MS = 100;

/** Delays the end of a stream, because the library answers nothing after its input has ended. */
export function outlasting(input: Readable): Readable {
  const lasting = new PassThrough();
  input.pipe(lasting, { end: false });
  input.once("end", () => setTimeout(() => lasting.end(), LAST_ANSWERS_MS));
  input.once("close", () => {
    if (!input.readableEnded) lasting.end();
  });
  return lasting;
}
