import { isRecord, parseJson } from "../../core/text/json.ts";
import { createLineSplitter } from "../../runtime/channel/line-splitter.ts";
import type { Child } from "../../runtime/commands/child.ts";
import { type ClientSdk, type McpTransport, WrongAnswer } from "./client.ts";

/** The maximum size of a message. */
const MOST_BYTES = 10_000_000;

/**
 * The MCP stdio transport to a program that subcrew started: one message per line. Lines that are not messages are
 * skipped; a line that exceeds the limit ends the connection. The properties `pid` and `stderr` tell the library that
 * this is a local program.
 */
export function childTransport({ deserializeMessage, serializeMessage }: ClientSdk, child: Child): McpTransport {
  const { input, output } = child.pipes ?? {};
  let over = false;
  const transport: McpTransport & { pid: null; stderr: null } = {
    pid: null,
    stderr: null,
    start: async () => {
      if (!input || !output) throw new Error("the server could not be started");
      const tooLong = (): void => {
        transport.onerror?.(new Error(`the server sent a message of more than ${MOST_BYTES} bytes`));
        void transport.close();
      };
      output.setEncoding("utf8").on("data", createLineSplitter(receive, { longest: MOST_BYTES, tooLong }).push);
      output.once("close", end);
      void child.ended.then(end);
    },
    send: (message) =>
      new Promise((resolve, reject) => {
        if (over || !input?.writable) return reject(new Error("the server has ended"));
        if (input.write(serializeMessage(message))) resolve();
        else input.once("drain", resolve);
      }),
    close: async () => {
      end();
      input?.end();
      await child.kill(CLOSE_MS);
    },
  };
  const receive = (line: string): void => {
    if (line.trim() === "") return;
    try {
      transport.onmessage?.(deserializeMessage(line));
    } catch {
      for (const error of errorsIn(line)) transport.onerror?.(error);
    }
  };
  const end = (): void => {
    if (over) return;
    over = true;
    transport.onclose?.();
  };
  return transport;
}

/**
 * What is wrong with a line that is not a message. A list may contain several answers; other text may be a log line and
 * is skipped.
 */
function errorsIn(line: string): Error[] {
  const read = jsonIn(line);
  const answers = (Array.isArray(read) ? read : [read]).filter(
    (each): each is Record<string, unknown> =>
      isRecord(each) &&
      each["method"] === undefined &&
      ["id", "result", "error"].some((key) => Object.hasOwn(each, key)),
  );
  if (answers.length === 0) return [new Error("the server sent text that is not an MCP message")];
  return answers.map(
    ({ id }) => new WrongAnswer(typeof id === "string" || Number.isInteger(id) ? (id as number) : undefined),
  );
}

function jsonIn(line: string): unknown {
  try {
    return parseJson(line);
  } catch {
    return undefined;
  }
}

/** How long a server has to exit after its stdin was closed and it received SIGTERM. */
const CLOSE_MS = 1_000;
