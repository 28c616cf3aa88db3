import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { connectProvider } from "./http.ts";

const { signal } = new AbortController();

/** A provider that keeps its connections and gives back what it was sent. */
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

async function read(answer: IncomingMessage): Promise<{ url: string; headers: Record<string, string>; body: string }> {
  let text = "";
  for await (const piece of answer) text += String(piece);
  return JSON.parse(text) as Awaited<ReturnType<typeof read>>;
}

test("headers of the settings replace the usual ones in any spelling, and the length is that of the body in bytes", async () => {
  const { url } = await provider();
  const connection = connectProvider(`http://${url}/v1/`);
  const headers = { "User-Agent": "mine", ACCEPT: "*/*", "Content-Length": "7", "x-key": "k" };
  for (const body of ["häuser", "x"]) {
    const sent = await read(await connection.post("/chat", { headers, body, signal }));
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

test("a login in the address is sent, unless there is a key", async () => {
  const { url } = await provider();
  const connection = connectProvider(`http://me:s%20t@${url}`);
  const plain = await read(await connection.get("/models", { headers: {}, signal }));
  expect(plain.headers["authorization"]).toBe(`Basic ${Buffer.from("me:s t").toString("base64")}`);
  const keyed = await read(await connection.get("/models", { headers: { authorization: "Bearer k" }, signal }));
  expect(keyed.headers["authorization"]).toBe("Bearer k");
});

test("three hundred requests at once use the same connections again", async () => {
  const { url, connections } = await provider();
  const connection = connectProvider(`http://${url}`);
  const all = (): Promise<unknown> =>
    Promise.all(
      Array.from({ length: 300 }, async () => read(await connection.post("/", { headers: {}, body: "{}", signal }))),
    );
  await all();
  const before = connections();
  await new Promise(setImmediate);
  await all();
  expect(connections()).toBe(before);
});
