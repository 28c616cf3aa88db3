import { once } from "node:events";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { ResponseParser } from "./response-parser.ts";

type Parsed = { status?: number; type?: string | undefined; body: string; end?: "reusable" | "closed"; error?: string };

/** Parses a response that arrives in these pieces and whose connection then closes. */
function parse(pieces: readonly Buffer[]): Parsed {
  const parsed: Parsed = { body: "" };
  const parser = new ResponseParser({
    onHead: ({ status, headers }) => Object.assign(parsed, { status, type: headers["content-type"] }),
    onText: (piece) => {
      parsed.body += piece;
    },
    onEnd: (isReusable) => {
      parsed.end = isReusable ? "reusable" : "closed";
    },
  });
  try {
    for (const piece of pieces) if (!parsed.end) parser.push(piece);
    parser.close();
  } catch (error) {
    parsed.error = (error as Error).message;
  }
  return parsed;
}

/** All ways to cut a response into two pieces, and into single bytes; the buffer of a piece is used again. */
function* cuts(bytes: Buffer): Generator<Buffer[]> {
  yield [bytes];
  for (let at = 1; at < bytes.length; at += 1) yield [bytes.subarray(0, at), bytes.subarray(at)];
  yield Array.from(bytes, (byte) => Buffer.from([byte]));
}

const chunked = "transfer-encoding: chunked\r\n\r\n";
const valid: Record<string, readonly [text: string, expected: Parsed]> = {
  "a length": ["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", { status: 200, body: "hello", end: "reusable" }],
  "a body of no bytes": ["HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", { status: 200, body: "", end: "reusable" }],
  "no reason in the status line": [
    "HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok",
    { status: 200, body: "ok", end: "reusable" },
  ],
  "a status without a body": ["HTTP/1.1 204 No Content\r\n\r\n", { status: 204, body: "", end: "reusable" }],
  "a status without a body, with a length": [
    "HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n",
    { status: 304, body: "", end: "reusable" },
  ],
  chunks: [
    `HTTP/1.1 200 OK\r\n${chunked}3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n`,
    { status: 200, body: "abc0123456789", end: "reusable" },
  ],
  "an extension of a chunk": [
    `HTTP/1.1 200 OK\r\n${chunked}3;name="v;w"\r\nabc\r\n0\r\n\r\n`,
    { status: 200, body: "abc", end: "reusable" },
  ],
  "headers after the last chunk": [
    `HTTP/1.1 200 OK\r\n${chunked}1\r\na\r\n0\r\nx-sum: 1\r\nx-more: 2\r\n\r\n`,
    { status: 200, body: "a", end: "reusable" },
  ],
  "a body until the connection closes": [
    "HTTP/1.1 200 OK\r\n\r\nall of it\r\n",
    { status: 200, body: "all of it\r\n", end: "closed" },
  ],
  "the end of the connection announced": [
    "HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 1\r\n\r\nx",
    { status: 200, body: "x", end: "closed" },
  ],
  "HTTP/1.0": ["HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\nx", { status: 200, body: "x", end: "closed" }],
  "HTTP/1.0 that keeps its connection": [
    "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 1\r\n\r\nx",
    { status: 200, body: "x", end: "reusable" },
  ],
  "informational responses before it": [
    "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx",
    { status: 200, body: "x", end: "reusable" },
  ],
  "characters of several bytes": [
    `HTTP/1.1 200 OK\r\n${chunked}2\r\n\xc3\xa4\r\n1\r\n\xf0\r\n3\r\n\x9f\x98\x80\r\n0\r\n\r\n`,
    { status: 200, body: "ä😀", end: "reusable" },
  ],
  "spaces around a value, any case of a name": [
    "HTTP/1.1 404 Not Found\r\nCONTENT-TYPE: \t text/plain \r\nContent-Length:2\r\n\r\nno",
    { status: 404, type: "text/plain", body: "no", end: "reusable" },
  ],
  "names of object members": [
    "HTTP/1.1 200 OK\r\n__proto__: a\r\nconstructor: b\r\ncontent-length: 1\r\n\r\nx",
    { status: 200, body: "x", end: "reusable" },
  ],
};

/** Responses that node:http refuses or reads differently. */
const lenient: typeof valid = {
  "a header twice": [
    "HTTP/1.1 200 OK\r\ncontent-type: a/b\r\ncontent-type: c/d\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\nx",
    { status: 200, type: "a/b", body: "x", end: "reusable" },
  ],
  "lines that end without a carriage return": [
    "HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n1\nx\n0\n\n",
    { status: 200, body: "x", end: "reusable" },
  ],
  "a value that continues on the next line": [
    "HTTP/1.1 200 OK\r\ncontent-type: text/\r\n plain\r\ncontent-length: 1\r\n\r\nx",
    { status: 200, type: "text/ plain", body: "x", end: "reusable" },
  ],
  "a length beside chunks": [
    `HTTP/1.1 200 OK\r\ncontent-length: 1\r\n${chunked}2\r\nxy\r\n0\r\n\r\n`,
    { status: 200, body: "xy", end: "closed" },
  ],
};

describe("an HTTP response is parsed the same in any pieces", () => {
  test.each(Object.entries({ ...valid, ...lenient }))("%s", (_name, [text, expected]) => {
    for (const pieces of cuts(Buffer.from(text, "latin1"))) expect(parse(pieces)).toEqual(expected);
  });
});

test("node:http reads the same HTTP responses from a real connection", async () => {
  for (const [text, expected] of Object.values(valid)) {
    const server = net.createServer((socket) => {
      socket.once("data", () => socket.end(Buffer.from(text, "latin1")));
    });
    onTestFinished(() => void server.close());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const request = http.get({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", agent: false });
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    let body = "";
    response.setEncoding("utf8");
    for await (const piece of response) body += String(piece);
    expect({ status: response.statusCode, type: response.headers["content-type"], body }).toEqual({
      status: expected.status,
      type: expected.type,
      body: expected.body,
    });
  }
});

const long = "x".repeat(70_000);
const invalid: Record<string, readonly [text: string, why: RegExp]> = {
  "another protocol": ["SSH-2.0-OpenSSH_9\r\n\r\n", /does not begin with an HTTP status line/],
  "a TLS alert": ["\x15\x03\x01\x00\x02\x02\x16\n\n", /does not begin with an HTTP status line/],
  "HTTP/2": ["HTTP/2 200\r\n\r\n", /does not begin with an HTTP status line/],
  "a status that is no number": ["HTTP/1.1 abc OK\r\n\r\n", /does not begin with an HTTP status line/],
  "a line without a colon": ["HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", /headers cannot be read/],
  "a space before the colon": ["HTTP/1.1 200 OK\r\ncontent-length : 5\r\n\r\nhello", /headers cannot be read/],
  "a header without a name": ["HTTP/1.1 200 OK\r\n: 5\r\n\r\nhello", /headers cannot be read/],
  "a carriage return in a value": ["HTTP/1.1 200 OK\r\nx: a\rb\r\n\r\n", /headers cannot be read/],
  "a first header that continues": ["HTTP/1.1 200 OK\r\n x\r\n\r\n", /headers cannot be read/],
  "a length that continues": ["HTTP/1.1 200 OK\r\ncontent-length: 1\r\n 0\r\n\r\nx", /headers cannot be read/],
  "endless headers": [`HTTP/1.1 200 OK\r\nx: ${long}`, /headers are too long/],
  "headers that are too long": [`HTTP/1.1 200 OK\r\nx: ${long}\r\n\r\n`, /headers are too long/],
  "two lengths": ["HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxy", /two content lengths/],
  "a negative length": ["HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", /length is not a number/],
  "a length with a sign": ["HTTP/1.1 200 OK\r\ncontent-length: +1\r\n\r\nx", /length is not a number/],
  "a length that no number holds": [
    "HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n",
    /length is not a number/,
  ],
  "an unknown coding": ["HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n", /transfer coding is unknown/],
  "a coding in two headers": [
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n0\r\n\r\n",
    /transfer coding is unknown/,
  ],
  "a chunk without a size": [`HTTP/1.1 200 OK\r\n${chunked}\r\nabc`, /size of a chunk is not a number/],
  "a negative size": [`HTTP/1.1 200 OK\r\n${chunked}-1\r\nabc`, /size of a chunk is not a number/],
  "a size with a prefix": [`HTTP/1.1 200 OK\r\n${chunked}0x3\r\nabc\r\n0\r\n\r\n`, /size of a chunk is not a number/],
  "an endless size": [`HTTP/1.1 200 OK\r\n${chunked}${"0".repeat(5_000)}`, /chunk has no size/],
  "an endless extension": [`HTTP/1.1 200 OK\r\n${chunked}1;${long}\r\n`, /chunk has no size/],
  "a chunk that is longer than its size": [`HTTP/1.1 200 OK\r\n${chunked}1\r\nxy\r\n0\r\n\r\n`, /longer than its size/],
  "endless trailers": [`HTTP/1.1 200 OK\r\n${chunked}0\r\n${"x: y\r\n".repeat(12_000)}`, /trailers are too long/],
  "a switch to another protocol": ["HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n", /another protocol/],
  "a body that is too short": ["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhell", /ended early/],
  "chunks without the last one": [`HTTP/1.1 200 OK\r\n${chunked}1\r\nx\r\n`, /ended early/],
  "a head that is cut": ["HTTP/1.1 200 OK\r\ncontent-le", /ended early/],
};

describe("bytes that are not a valid HTTP response are an error", () => {
  test.each(Object.entries(invalid))("%s", (_name, [text, why]) => {
    const bytes = Buffer.from(text, "latin1");
    expect(parse([bytes])).toMatchObject({ error: expect.stringMatching(why) });
    const half = bytes.length >> 1;
    expect(parse([bytes.subarray(0, half), bytes.subarray(half)])).toMatchObject({ error: expect.stringMatching(why) });
  });
});

test("a connection on which more than the requested response arrives is not reused", () => {
  const text = "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nxHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\ny";
  expect(parse([Buffer.from(text)])).toEqual({ status: 200, body: "x", end: "closed" });
});

test("the bytes of an HTTP response may be overwritten after they were parsed", () => {
  const text = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nä€"; // the length is wrong on purpose: a character is cut
  const parsed: string[] = [];
  const parser = new ResponseParser({
    onHead: () => {},
    onText: (piece) => parsed.push(piece),
    onEnd: () => parsed.push("end"),
  });
  const shared = Buffer.alloc(7);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length - 1; at += 7) {
    const part = bytes.subarray(at, Math.min(at + 7, bytes.length - 1));
    part.copy(shared);
    parser.push(shared.subarray(0, part.length));
    shared.fill("#");
  }
  expect(parsed.join("")).toBe("ä\ufffdend");
});
