import { PassThrough, type Readable } from "node:stream";

/** How long what a program asked before it closed its end may take to be answered. */
const LAST_ANSWERS_MS = 100;

/** The same stream, which ends a moment later: the library answers nothing after the end of its input. */
export function outlasting(input: Readable): Readable {
  const lasting = new PassThrough();
  input.pipe(lasting, { end: false });
  input.once("end", () => setTimeout(() => lasting.end(), LAST_ANSWERS_MS));
  input.once("close", () => {
    if (!input.readableEnded) lasting.end();
  });
  return lasting;
}
