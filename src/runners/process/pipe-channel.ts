import type { Readable, Writable } from "node:stream";
import { type Channel, isMessage } from "../../runtime/channel/protocol.ts";
import { DEEPEST_RECORD, parseJson } from "../../core/text/json.ts";

/** The maximum size of a message; a larger message is an error, so that it cannot exhaust memory. */
const LONGEST = 256 * 2 ** 20;

/** Messages as JSON lines over two pipes. */
export function pipeChannel<In, Out>(input: Readable, output: Writable): Channel<In, Out> {
  output.on("error", () => {}); // the other process has ended; its exit code is reported by other code
  return {
    send: (message) => void (output.writable && output.write(`${JSON.stringify(message)}\n`)),
    listen: (receive, gone) => {
      const waiting: Buffer[] = [];
      let length = 0;
      let over = false;
      const end = (): void => {
        if (over) return;
        over = true;
        gone();
      };
      const take = (line: string): void => {
        const message = parsed(line);
        if (isMessage(message)) receive(message as In);
        else input.destroy();
      };
      input.on("data", (chunk: Buffer) => {
        let from = 0;
        for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
          waiting.push(chunk.subarray(from, at));
          take(Buffer.concat(waiting.splice(0)).toString("utf8"));
          if (input.destroyed) return; // nothing is read after an invalid message
          length = 0;
          from = at + 1;
        }
        waiting.push(chunk.subarray(from));
        length += chunk.length - from;
        if (length > LONGEST) input.destroy();
      });
      input.once("end", end).once("close", end).on("error", end);
    },
    close: () =>
      new Promise((resolve) => {
        input.destroy();
        if (output.destroyed || output.writableEnded) return resolve();
        output.once("close", resolve);
        output.end(() => output.destroy());
      }),
  };
}

const NEWLINE = 0x0a;

function parsed(line: string): unknown {
  try {
    return parseJson(line, DEEPEST_RECORD);
  } catch {
    return undefined;
  }
}
