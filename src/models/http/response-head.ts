/** The first part of an HTTP response. */
export type ResponseHead = Readonly<{
  status: number;
  /** The headers; names are in lower case. Of a header that is sent twice, the first value counts. */
  headers: Readonly<Record<string, string | undefined>>;
}>;

/** The head of a response, with the parts that say where the body ends. */
export type ParsedHead = ResponseHead &
  Readonly<{
    isHttp11: boolean;
    /** All values of `Transfer-Encoding` and `Connection`, in lower case, with a comma before and after each word. */
    codings: string;
    connection: string;
  }>;

/** Thrown when the bytes of a connection are not a valid HTTP response. */
export class ResponseError extends Error {
  readonly code = "BAD_HTTP";
  constructor(why: string) {
    super(`the answer is not valid HTTP: ${why}`);
    this.name = "ResponseError";
  }
}

/** Maximum size of the status line with all headers. */
const LONGEST_HEAD = 64 * 1_024;
const LF = 0x0a;
const CR = 0x0d;

export function limitLength(length: number, most: number, why: string): void {
  if (length > most) throw new ResponseError(why);
}

/**
 * The position after the empty line that ends a head; -1 when it has not arrived. Lines may end with a newline alone,
 * without a carriage return.
 */
export function headEnd(bytes: Buffer, at: number): number {
  for (let line = bytes.indexOf(LF, at); line !== -1; line = bytes.indexOf(LF, line + 1)) {
    limitLength(line - at, LONGEST_HEAD, "its headers are too long");
    if (bytes[line + 1] === LF) return line + 2;
    if (bytes[line + 1] === CR && bytes[line + 2] === LF) return line + 3;
  }
  limitLength(bytes.length - at, LONGEST_HEAD, "its headers are too long");
  return -1;
}

/** Parses a status line and the headers below it. */
export function parseHead(text: string): ParsedHead {
  const lines = text.split("\n");
  const [, minor, status] = STATUS_LINE.exec(lines[0]!) ?? [];
  if (status === undefined) throw new ResponseError("it does not begin with an HTTP status line");
  const headers: Record<string, string> = {};
  let [codings, connection, last] = ["", "", ""];
  for (let at = 1; at < lines.length; at += 1) {
    const line = lines[at]!;
    if (line === "" || line === "\r") continue;
    if (line.startsWith(" ") || line.startsWith("\t")) {
      // The value continues on the next line. This is obsolete but allowed, except for headers that say where the body
      // ends.
      if (last === "" || FRAMING.has(last)) throw new ResponseError("its headers cannot be read");
      headers[last] += ` ${line.trim()}`;
      continue;
    }
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon)).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (!NAME.test(name) || FORBIDDEN.test(value)) throw new ResponseError("its headers cannot be read");
    last = name;
    if (name === "transfer-encoding") codings += `,${value}`;
    else if (name === "connection") connection += `,${value}`;
    if (!Object.hasOwn(headers, name)) headers[name] = value;
    else if (name === "content-length" && headers[name] !== value)
      throw new ResponseError("it has two content lengths");
  }
  return {
    status: Number(status),
    headers,
    isHttp11: minor === "1",
    codings: wordsOf(codings),
    connection: wordsOf(connection),
  };
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [^\r\0]*)?\r?$/;
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const FORBIDDEN = /[\0\r]/;
const FRAMING = new Set(["transfer-encoding", "connection", "content-length"]);

const wordsOf = (list: string): string => (list === "" ? "" : `${list.toLowerCase().replaceAll(/[ \t]/g, "")},`);

/** Where a body ends: after a number of bytes, after its last chunk, or when the connection closes. */
export type BodyEnd = "after bytes" | "after chunks" | "at close";

/** Says where the body ends (RFC 9112, 6.3), and whether the connection may be used again afterwards. */
export function bodyEndOf({ status, headers, isHttp11, codings, connection }: ParsedHead): Readonly<{
  ends: BodyEnd;
  length: number;
  isReusable: boolean;
}> {
  const isReusable = isHttp11 ? !connection.includes(",close,") : connection.includes(",keep-alive,");
  const length = headers["content-length"];
  if (status === 204 || status === 304) return { ends: "after bytes", length: 0, isReusable };
  if (codings !== "") {
    if (codings.replaceAll(",", "") !== "chunked") throw new ResponseError("its transfer coding is unknown");
    // A response with both a length and chunks may be an attack on the next request of the connection.
    return { ends: "after chunks", length: 0, isReusable: isReusable && length === undefined };
  }
  if (length === undefined) return { ends: "at close", length: 0, isReusable: false };
  if (!/^\d{1,15}$/.test(length)) throw new ResponseError("its length is not a number");
  return { ends: "after bytes", length: Number(length), isReusable };
}
