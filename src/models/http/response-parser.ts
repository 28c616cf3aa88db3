import { StringDecoder } from "node:string_decoder";
import {
  type BodyEnd,
  bodyEndOf,
  headEnd,
  parseHead,
  ResponseError,
  type ResponseHead,
  limitLength,
} from "./response-head.ts";

/** Receives the parts of a response from its parser. The text of one `push` comes as one piece. */
export type ResponseListener = Readonly<{
  onHead(head: ResponseHead): void;
  onText(piece: string): void;
  /** Called when the response is complete. `isReusable`: the connection may be used for another request. */
  onEnd(isReusable: boolean): void;
}>;

/** Maximum size of the line before a chunk: its size, and extensions that are ignored. */
const LONGEST_SIZE_LINE = 4_096;
/** Maximum size of the headers that follow a chunked body; they are ignored. */
const LONGEST_TRAILERS = 64 * 1_024;

/**
 * The part of the response that is parsed next: the head, the body as its head describes it, a part of a chunk (its
 * bytes, the line end after them), the headers after the last chunk, or nothing.
 */
type State = "head" | BodyEnd | "chunk" | "chunk end" | "trailers" | "over";

/**
 * Parses one HTTP/1.1 response, as RFC 9112 describes it, from the bytes of a connection. `node:http` parses the same,
 * but its objects for a request, a response and their streams cost more than everything else in a turn (decision 560).
 */
export class ResponseParser {
  readonly #listener: ResponseListener;
  #state: State = "head";
  /** The number of bytes that the body, the chunk or the trailers may still have. */
  #left = 0;
  #isReusable = false;
  /** The received bytes of a head or of a line that is not complete yet. */
  #kept: Buffer | undefined;
  #text = "";
  /** Joins characters that are divided between two pieces; made for the first such piece. */
  #decoder: StringDecoder | undefined;

  constructor(listener: ResponseListener) {
    this.#listener = listener;
  }

  /** Parses the next bytes, which may change afterwards. Throws a `ResponseError` if they are not a valid response. */
  push(fresh: Buffer): void {
    if (this.#state === "over") throw new ResponseError("bytes follow after its end");
    const bytes = this.#kept ? Buffer.concat([this.#kept, fresh]) : fresh;
    this.#kept = undefined;
    let at = 0;
    while (at < bytes.length && !this.#isOver()) {
      const next = this.#step(bytes, at);
      if (next === -1) {
        this.#kept = Buffer.from(bytes.subarray(at));
        break;
      }
      at = next;
    }
    if (this.#isOver()) this.#finish(this.#isReusable && at === bytes.length);
    else this.#flush();
  }

  /** To be called when the connection has ended. Throws a `ResponseError` if the response is incomplete. */
  close(): void {
    if (this.#state === "over") return;
    if (this.#state !== "at close") throw new ResponseError("it ended early");
    this.#finish(false);
  }

  /** True when the response is complete. A body without bytes is complete as soon as its head is read. */
  #isOver(): boolean {
    return this.#state === "over" || (this.#state === "after bytes" && this.#left === 0);
  }

  /** Takes one step from `at` on and returns the position after it; -1 when more bytes are needed. */
  #step(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case "head":
        return this.#takeHead(bytes, at);
      case "after bytes":
        return this.#takeBody(bytes, at, "over");
      case "at close":
        this.#left = bytes.length - at;
        return this.#takeBody(bytes, at, "at close");
      case "after chunks":
        return this.#takeSize(bytes, at);
      case "chunk":
        return this.#takeBody(bytes, at, "chunk end");
      case "chunk end":
        return this.#takeChunkEnd(bytes, at);
      default:
        return this.#takeTrailer(bytes, at);
    }
  }

  #takeHead(bytes: Buffer, at: number): number {
    const end = headEnd(bytes, at);
    if (end === -1) return -1;
    const head = parseHead(bytes.toString("latin1", at, end));
    if (head.status === 101) throw new ResponseError("it switches to another protocol");
    if (head.status < 200) return end; // an informational response comes before the response itself
    const { ends, length, isReusable } = bodyEndOf(head);
    this.#state = ends;
    this.#left = length;
    this.#isReusable = isReusable;
    this.#listener.onHead(head);
    return end;
  }

  /** Takes bytes of the body, at most as many as are left; after the last byte the state is `after`. */
  #takeBody(bytes: Buffer, at: number, after: State): number {
    const to = Math.min(bytes.length, at + this.#left);
    const isAscii = bytes[to - 1]! < 0x80;
    if (!isAscii) this.#decoder ??= new StringDecoder("utf8");
    this.#text += this.#decoder ? this.#decoder.write(bytes.subarray(at, to)) : bytes.toString("utf8", at, to);
    this.#left -= to - at;
    if (this.#left === 0) this.#state = after;
    return to;
  }

  #takeSize(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(LF, at);
    limitLength((end === -1 ? bytes.length : end) - at, LONGEST_SIZE_LINE, "a chunk has no size");
    if (end === -1) return -1;
    const [, digits] = SIZE.exec(bytes.toString("latin1", at, end)) ?? [];
    if (digits === undefined) throw new ResponseError("the size of a chunk is not a number");
    this.#left = Number.parseInt(digits, 16);
    this.#state = this.#left === 0 ? "trailers" : "chunk";
    return end + 1;
  }

  #takeChunkEnd(bytes: Buffer, at: number): number {
    const end = bytes[at] === CR ? at + 1 : at;
    if (end === bytes.length) return -1;
    if (bytes[end] !== LF) throw new ResponseError("a chunk is longer than its size");
    this.#state = "after chunks";
    return end + 1;
  }

  #takeTrailer(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(LF, at);
    limitLength(this.#left + (end === -1 ? bytes.length : end) - at, LONGEST_TRAILERS, "its trailers are too long");
    if (end === -1) return -1;
    this.#left += end + 1 - at; // `#left` counts up in this state: it holds the size of the trailers so far
    if (end === at || (end === at + 1 && bytes[at] === CR)) this.#state = "over";
    return end + 1;
  }

  #flush(): void {
    if (this.#text === "") return;
    const piece = this.#text;
    this.#text = "";
    this.#listener.onText(piece);
  }

  #finish(isReusable: boolean): void {
    this.#state = "over";
    if (this.#decoder) this.#text += this.#decoder.end();
    this.#flush();
    this.#listener.onEnd(isReusable);
  }
}

const LF = 0x0a;
const CR = 0x0d;
/** The line before each chunk of a chunked HTTP body: the size as a hexadecimal number, then perhaps an extension. */
const SIZE = /^([0-9a-f]{1,12})[ \t]*(?:;.*)?\r?$/i;
