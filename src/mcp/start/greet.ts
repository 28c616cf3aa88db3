import { PassThrough, type Readable, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { isRecord, parseJson } from "../../core/text/json.ts";
import { serverFace } from "./server-face.ts";

/** The input and output streams for the MCP server, after `initialize` was answered. */
export type GreetedStreams = Readonly<{
  input: Readable;
  output: Writable;
  /**
   * Resolves when the first message was read, or after a short time. Loading the server before that would delay the
   * reply to it.
   */
  heard: Promise<void>;
}>;

/** The protocol revisions that begin with `initialize`. For all of them, the reply differs only in the revision. */
const REVISIONS: ReadonlySet<unknown> = new Set(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]);
/** The maximum length of a first message that is answered early; a longer message is left to the server. */
const MOST_CHARACTERS = 100_000;
/** How long to wait for the first message before the server is loaded. Hosts send it at once. */
const HEAR_MS = 50;

/**
 * Answers `initialize` before the rest of the program is loaded, because hosts wait for it when they start, some for
 * less than a second. The server gets the message, too, and its own reply is dropped. Any other first message is left
 * to the server.
 */
export function greet(input: Readable, output: Writable): GreetedStreams {
  const rest = new PassThrough();
  const decoder = new StringDecoder("utf8");
  let first = "";
  let isHeard = (): void => {};
  const heard = new Promise<void>((resolve) => {
    isHeard = resolve;
    setTimeout(resolve, HEAR_MS);
  });
  let keep = (chunk: Buffer): Buffer | string => chunk;
  const hear = (chunk: Buffer): void => {
    first += decoder.write(chunk);
    const end = first.indexOf("\n");
    if (end >= 0 || first.length > MOST_CHARACTERS) {
      input.off("data", hear);
      const asked = end < 0 ? undefined : initialization(first.slice(0, end));
      if (asked) {
        output.write(`${JSON.stringify({ result: replyTo(asked), jsonrpc: "2.0", id: asked.id })}\n`);
        keep = withoutReply(asked.id);
      }
      input.pipe(rest);
      isHeard();
    }
    rest.write(chunk);
  };
  input.on("data", hear);
  input.once("end", () => rest.end()).once("close", () => rest.end());
  const replies = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      const kept = keep(chunk);
      if (kept.length === 0 || output.write(kept)) done();
      else output.once("drain", done);
    },
  });
  output.once("error", (error) => replies.destroy(error)).once("close", () => replies.destroy());
  return { input: rest, output: replies, heard };
}

type Initialization = Readonly<{ id: string | number; revision: string }>;

/** Parses an `initialize` request that the server would accept unchanged; otherwise `undefined`. */
function initialization(line: string): Initialization | undefined {
  const { jsonrpc, method, id, params } = parsed(line);
  if (jsonrpc !== "2.0" || method !== "initialize" || !isRecord(params)) return undefined;
  if (typeof id !== "string" && !Number.isSafeInteger(id)) return undefined;
  const { protocolVersion, capabilities, clientInfo, _meta } = params;
  const isPlain = isRecord(capabilities) && isRecord(clientInfo) && _meta === undefined;
  if (!isPlain || typeof clientInfo["name"] !== "string" || typeof clientInfo["version"] !== "string") return undefined;
  return REVISIONS.has(protocolVersion) ? { id: id as string | number, revision: String(protocolVersion) } : undefined;
}

const replyTo = ({ revision }: Initialization): object => ({
  protocolVersion: revision,
  capabilities: serverFace.capabilities,
  serverInfo: serverFace.info,
  instructions: serverFace.instructions,
});

function parsed(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = parseJson(line);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

/** Removes the first reply to a request from chunks of output. */
function withoutReply(id: string | number): (chunk: Buffer) => Buffer | string {
  const decoder = new StringDecoder("utf8");
  let held = "";
  let isPast = false;
  return (chunk) => {
    if (isPast) return chunk;
    held += decoder.write(chunk);
    let kept = "";
    for (let end = held.indexOf("\n"); end >= 0 && !isPast; end = held.indexOf("\n")) {
      const line = held.slice(0, end + 1);
      held = held.slice(end + 1);
      const message = parsed(line);
      isPast = message["id"] === id && message["method"] === undefined;
      if (!isPast) kept += line;
    }
    return isPast ? kept + held : kept;
  };
}
