import { Transform, type Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { isRecord, isDeeplyNested, TOO_DEEP_JSON } from "../../core/text/json.ts";
import { createLineSplitter } from "./line-splitter.ts";

/** The maximum length of a message, in characters; and in bytes, for the library that reads the lines. */
const LONGEST = 10_000_000;
export const MOST_MESSAGE_BYTES = 4 * LONGEST;
/** The length in characters below which a text cannot be nested too deeply. */
const SHORT = 400;

/**
 * The lines of a peer that sends one JSON-RPC message per line. The libraries that read them take lines of any length
 * and walk values of any depth; a message that is too long or nested too deeply is left out here, and `reply` gets the
 * error for its sender.
 */
export function messageLines(input: Readable, reply: (line: string) => void): Readable {
  const decoder = new StringDecoder("utf8");
  const fault = (id: unknown, message: string): string =>
    `${JSON.stringify({ jsonrpc: "2.0", id: isId(id) ? id : null, error: { code: -32600, message } })}\n`;
  const take = (line: string): void => {
    const value = line.length < SHORT ? undefined : parsed(line);
    if (!isDeeplyNested(value)) return void lines.push(`${line}\n`);
    const { id, method } = isRecord(value) ? value : {};
    const error = fault(id, `The message is ${TOO_DEEP_JSON}. Send flatter data.`);
    if (method === undefined && isId(id))
      lines.push(error); // the message is the reply to a request of this process, so the request fails
    else reply(error);
  };
  const splitter = createLineSplitter(take, {
    longest: LONGEST,
    tooLong: () => reply(fault(null, `The message is longer than ${LONGEST} characters. Send a shorter message.`)),
  });
  const lines = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      splitter.push(decoder.write(chunk));
      done();
    },
    flush: (done) => {
      splitter.end();
      done();
    },
  });
  input.on("error", (error) => lines.destroy(error)).once("close", () => lines.end());
  return input.pipe(lines);
}

const isId = (id: unknown): id is string | number => typeof id === "string" || typeof id === "number";

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // the reader of the lines answers the message
  }
}
