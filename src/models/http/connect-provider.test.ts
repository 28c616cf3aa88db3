import { once } from "node:events";
import { createServer } from "node:http";
import net, { type AddressInfo, type Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import type { ProviderAnswer } from "./exchange.ts";
import { connectProvider } from "./connect-provider.ts";

const { signal } = new AbortController();

/** A provider that keeps its connections open and answers with the requests that it received. */
async function provider(): Promise<{ url: string; connections: () => number }> {
  let connections = 0;
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    let body = "";
    request.on("data", (piece: Buffer) => {
      body += piece.toString();
    });
    request.on("end", () => response.end(JSON.stringify({ url: request.url, headers: request.headers, body })));
  });
  server.on("connection", () => {
    connections += 1;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => server.closeAllConnections());
  onTestFinished(() => void server.close());
  return { url: `127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => connections };
}

async function read({ body }: ProviderAnswer): Promise<{ url: string; headers: Record<string, string>; body: string }> {
  let text = "";
  for await (const piece of body) text += piece;
  return JSON.parse(text) as Awaited<ReturnType<typeof read>>;
}

test("headers in the settings replace the default headers in any spelling, and the content length is that of the body in bytes", async () => {
  const { url } = await provider();
  const connection = connectProvider(`http://${url}/v1/`);
  const headers = { "User-Agent": "mine", ACCEPT: "*/*", "Content-Length": "7", "x-key": "k" };
  for (const body of ["häuser", "x"]) {
    const sent = await read(await connection.post("/chat", { headers, body: () => body, signal }));
    expect(sent).toMatchObject({ url: "/v1/chat", body });
    expect(sent.headers).toEqual({
      host: url,
      "user-agent": "mine",
      accept: "*/*",
      "x-key": "k",
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
      connection: "keep-alive",
    });
  }
});

test("a user name and password in the address are sent, unless there is a key", async () => {
  const { url } = await provider();
  const connection = connectProvider(`http://me:s%20t@${url}`);
  const plain = await read(await connection.get("/models", { headers: {}, signal }));
  expect(plain.headers["authorization"]).toBe(`Basic ${Buffer.from("me:s t").toString("base64")}`);
  const keyed = await read(await connection.get("/models", { headers: { authorization: "Bearer k" }, signal }));
  expect(keyed.headers["authorization"]).toBe("Bearer k");
});

test("three hundred concurrent requests reuse the same connections", async () => {
  const { url, connections } = await provider();
  const connection = connectProvider(`http://${url}`);
  const all = (): Promise<unknown> =>
    Promise.all(
      Array.from({ length: 300 }, async () =>
        read(await connection.post("/", { headers: {}, body: () => "{}", signal })),
      ),
    );
  await all();
  const before = connections();
  await new Promise(setImmediate);
  await all();
  expect(connections()).toBe(before);
});

type Handler = (socket: Socket, connection: number) => void;

/** A server whose connections are handled byte by byte. */
async function rawServer(handle: Handler): Promise<{ url: string; opened: () => number; closed: Promise<unknown>[] }> {
  const closed: Promise<unknown>[] = [];
  const sockets = new Set<Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    closed.push(once(socket, "close"));
    handle(socket, closed.length);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, opened: () => closed.length, closed };
}

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const post = { headers: {}, body: () => "{}", signal };

async function textOf({ body }: ProviderAnswer): Promise<string> {
  let text = "";
  for await (const piece of body) text += piece;
  return text;
}

test("a request on a connection that the provider closes at that moment is sent again on a new connection", async () => {
  const { url, opened } = await rawServer((socket, connection) => {
    let requests = 0;
    socket.on("data", () => {
      requests += 1;
      if (connection === 1 && requests === 2) socket.destroy();
      else socket.write(OK);
    });
  });
  const connection = connectProvider(url);
  for (let round = 0; round < 3; round += 1) expect(await textOf(await connection.post("/", post))).toBe("ok");
  expect(opened()).toBe(2);
});

test("a new connection that is closed without an answer is a failure, and nothing is sent twice", async () => {
  const { url, opened } = await rawServer((socket) => socket.once("data", () => socket.end()));
  await expect(connectProvider(url).post("/", post)).rejects.toThrow("the connection was closed without an answer");
  expect(opened()).toBe(1);
});

test("a connection that the provider keeps open for only one second is not reused", async () => {
  const brief = OK.replace("\r\n", "\r\nKeep-Alive: timeout=1\r\n");
  const { url, opened } = await rawServer((socket) => socket.on("data", () => socket.write(brief)));
  const connection = connectProvider(url);
  await textOf(await connection.post("/", post));
  await textOf(await connection.post("/", post));
  expect(opened()).toBe(2);
});

test("a connection on which bytes arrive without a request is closed", async () => {
  const sockets: Socket[] = [];
  const { url, opened, closed } = await rawServer((socket) => {
    sockets.push(socket);
    socket.on("data", () => socket.write(OK));
  });
  const connection = connectProvider(url);
  expect(await textOf(await connection.post("/", post))).toBe("ok");
  sockets[0]!.write(OK);
  await closed[0];
  expect(await textOf(await connection.post("/", post))).toBe("ok");
  expect(opened()).toBe(2);
});

test("a long answer that is not read does not block the next answer on its connection", async () => {
  const long = "x".repeat(2 ** 20 + 1); // reading pauses exactly at the last byte
  const { url, opened } = await rawServer((socket) => {
    let requests = 0;
    socket.on("data", () => {
      requests += 1;
      socket.write(requests === 1 ? `HTTP/1.1 200 OK\r\ncontent-length: ${long.length}\r\n\r\n${long}` : OK);
    });
  });
  const connection = connectProvider(url);
  const unread = await connection.post("/", post);
  // The first connection becomes idle once the whole answer has arrived; until then requests open another connection.
  let used = 0;
  await vi.waitFor(async () => {
    expect(await textOf(await connection.post("/", post))).toBe("ok");
    used += 1;
    expect(used).toBeGreaterThan(opened() - 1);
  });
  expect(await textOf(unread)).toBe(long);
});

test("an abort closes the connection: before the answer, and while it arrives", async () => {
  const { url, closed } = await rawServer((socket, connection) => {
    if (connection === 2) socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\n\r\nhalf"));
  });
  const connection = connectProvider(url);
  const early = new AbortController();
  const waiting = connection.post("/", { ...post, signal: early.signal });
  setImmediate(() => early.abort());
  await expect(waiting).rejects.toThrow("aborted");
  await closed[0];
  const late = new AbortController();
  const answer = await connection.post("/", { ...post, signal: late.signal });
  const read = textOf(answer);
  late.abort();
  await expect(read).rejects.toThrow("aborted");
  await closed[1];
  await expect(connection.post("/", { ...post, signal: late.signal })).rejects.toThrow("aborted");
});

test("an answer that is discarded before its end closes the connection", async () => {
  const { url, closed } = await rawServer((socket) =>
    socket.once("data", () => socket.write("HTTP/1.1 500 Oh\r\ncontent-length: 99\r\n\r\nhalf")),
  );
  const answer = await connectProvider(url).post("/", post);
  expect(answer.status).toBe(500);
  answer.discard();
  await closed[0];
});

test("an answer that arrives before the whole request was sent is read, but its connection is not reused", async () => {
  const { url, opened } = await rawServer((socket, connection) => {
    socket.once("data", () => {
      if (connection === 1) socket.pause();
      socket.write(OK);
    });
  });
  const connection = connectProvider(url);
  expect(await textOf(await connection.post("/", { ...post, body: () => "x".repeat(50_000_000) }))).toBe("ok");
  expect(await textOf(await connection.post("/", post))).toBe("ok");
  expect(opened()).toBe(2);
});

test("a header that cannot be sent is refused before anything is sent, without its value", async () => {
  const { url, opened } = await rawServer(() => {});
  for (const headers of [{ "x-key": "secret\r\nhost: evil" }, { "x-key": "secret\0" }, { "x key": "secret" }]) {
    const error = await connectProvider(url)
      .post("/", { ...post, headers })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "ERR_INVALID_CHAR", message: expect.not.stringContaining("secret") });
  }
  expect(opened()).toBe(0);
});

test("callers cannot set the headers that say where a request ends, such as Transfer-Encoding", async () => {
  const { url } = await provider();
  const headers = { "Transfer-Encoding": "chunked", Connection: "close", Expect: "100-continue", Upgrade: "h2c" };
  const sent = await read(await connectProvider(`http://${url}`).post("/", { headers, body: () => "abc", signal }));
  expect(sent.body).toBe("abc");
  expect(Object.keys(sent.headers).sort()).toEqual([
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "user-agent",
  ]);
});

test("a request to a provider that sends nothing fails after the idle timeout", async () => {
  const { url, closed } = await rawServer((socket) => socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\n")));
  await expect(connectProvider(url, { silenceMs: 50 }).post("/", post)).rejects.toThrow("no data for 0 s");
  await closed[0];
});
