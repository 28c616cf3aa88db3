import { request } from "node:http";
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, expect, test } from "vitest";
import type { Crew } from "../../src/index.ts";
import { type HttpServing, serveHttp } from "../../src/mcp/http.ts";
import { never } from "../../src/models/scripted/scripted.ts";
import { deferred } from "../../src/runtime/async/deferred.ts";
import { agentOn, crewOf, type EraMode, eras } from "./session.ts";

const TOKEN = "a-token-that-is-long-enough-for-anybody";
const open: HttpServing[] = [];
afterEach(async () => void (await Promise.all(open.splice(0).map(({ close }) => close()))));

async function serving(crew: Crew): Promise<URL> {
  const served = await serveHttp(crew, { token: TOKEN, onError: () => {} });
  open.push(served);
  return new URL(served.url);
}

async function clientOf(url: URL, mode: EraMode, options: ClientOptions = {}): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode }, ...options });
  const headers = { authorization: `Bearer ${TOKEN}` };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return client;
}

/** A request without an HTTP library, because libraries do not allow a false host name. */
function raw(
  url: URL,
  { method = "POST", path = url.pathname, headers = {}, body = "" }: Raw = {},
): Promise<{ status: number; text: string; headers: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const all = { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers };
    const sent = request({ host: url.hostname, port: url.port, method, path, headers: all }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
type Raw = Readonly<{ method?: string; path?: string; headers?: Record<string, string>; body?: string }>;
const authorization = `Bearer ${TOKEN}`;
const LIST = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });

test.for(eras)("a client of the %s protocol runs an agent over HTTP, with progress", async (era) => {
  const client = await clientOf(await serving(crewOf({ scout: ["found"] })), era);
  const told: string[] = [];
  const result = await client.callTool(
    { name: "run", arguments: { agent: "scout", task: "x" } },
    { onprogress: ({ message }) => told.push(message ?? "") },
  );
  expect(result.structuredContent).toMatchObject({ status: "ok", output: "found" });
  expect(told.at(-1)).toBe("scout: ok");
  await client.close();
});

test.for(eras)("a question of a run becomes a form over HTTP, too, over the %s protocol", async (era) => {
  const turns = [{ calls: [{ name: "ask", input: { question: "Which one?" } }] }, "the red one"];
  const url = await serving(crewOf({ asker: turns }));
  const client = await clientOf(url, era, { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { text: "red" } }));
  const { structuredContent } = await client.callTool({ name: "run", arguments: { agent: "asker", task: "x" } });
  expect(structuredContent).toMatchObject({ status: "ok", output: "the red one" });
  await client.close();
});

test.for(eras)("a client that cancels its call over HTTP cancels the run, over the %s protocol", async (era) => {
  const crew = crewOf({}, { agents: [agentOn("stuck")], models: { stuck: never } });
  const client = await clientOf(await serving(crew), era);
  const stop = new AbortController();
  const begun = deferred<void>();
  const called = client.callTool(
    { name: "run", arguments: { agent: "stuck", task: "x" } },
    { signal: stop.signal, onprogress: () => begun.resolve() },
  );
  await begun.promise;
  stop.abort("enough");
  await expect(called).rejects.toThrow();
  const status = async (): Promise<unknown> =>
    (await client.callTool({ name: "status", arguments: {} })).structuredContent;
  await expect.poll(status, { timeout: 60_000 }).toMatchObject({ runs: [{ status: "cancelled" }] });
  await client.close();
});

test("a session of a protocol of 2025 ends when its client ends it, and an unknown session gets 404", async () => {
  const url = await serving(crewOf({}));
  const start = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
  });
  const { headers } = await raw(url, { headers: { authorization }, body: start });
  const session = { authorization, "mcp-session-id": String(headers["mcp-session-id"]) };
  expect((await raw(url, { headers: session, body: LIST })).status).toBe(200);
  expect((await raw(url, { headers: session, method: "DELETE" })).status).toBe(200);
  expect((await raw(url, { headers: session, body: LIST })).status).toBe(404);
});

test("SRV-08: two clients with the same request ids each get their own answers", async () => {
  const names = Array.from({ length: 10 }, (_, at) => `a${at}`);
  const url = await serving(crewOf(Object.fromEntries(names.map((name) => [name, [name, name]]))));
  const clients = await Promise.all([clientOf(url, "auto"), clientOf(url, "auto")]);
  const outputs = await Promise.all(
    clients.map((client) =>
      Promise.all(
        names.map(async (agent) => {
          const { structuredContent } = await client.callTool({ name: "run", arguments: { agent, task: "x" } });
          return (structuredContent as { output: string }).output;
        }),
      ),
    ),
  );
  expect(outputs).toEqual([names, names]);
  await Promise.all(clients.map((client) => client.close()));
});

test("SRV-01: the server listens on loopback", async () => {
  expect((await serving(crewOf({}))).hostname).toBe("127.0.0.1");
});

test("SRV-02: every address needs the token", async () => {
  const url = await serving(crewOf({}));
  for (const headers of [{}, { authorization: "Bearer wrong" }, { authorization: TOKEN }])
    for (const method of ["GET", "POST", "DELETE", "OPTIONS"]) {
      for (const path of ["/mcp", "/", "/mcp/x"]) expect((await raw(url, { method, path, headers })).status).toBe(401);
      expect((await raw(url, { method, path: "/../etc/passwd", headers })).status).toBe(403);
    }
  expect((await raw(url, { path: "/elsewhere", headers: { authorization } })).status).toBe(404);
  expect((await raw(url, { headers: { authorization }, body: LIST })).status).toBe(200);
});

test("SRV-03: a request under another host's name is refused", async () => {
  const url = await serving(crewOf({}));
  for (const host of ["evil.example", `evil.example:${url.port}`, "127.0.0.1", "127.0.0.1:1"])
    expect((await raw(url, { headers: { authorization, host }, body: LIST })).status).toBe(403);
  expect((await raw(url, { headers: { authorization, host: `localhost:${url.port}` }, body: LIST })).status).toBe(200);
});

test("SRV-04: a page of another origin gets no data, and no permission to send requests", async () => {
  const url = await serving(crewOf({}));
  for (const origin of ["https://evil.example", "null", `http://evil.example:${url.port}`]) {
    const answer = await raw(url, { headers: { authorization, origin }, body: LIST });
    expect([answer.status, answer.headers["access-control-allow-origin"]]).toEqual([403, undefined]);
  }
  const plain = await raw(url, { headers: { authorization, "content-type": "text/plain" }, body: LIST });
  expect(plain.status).toBe(415);
});

test("SRV-07: a body that is too long is refused", async () => {
  const url = await serving(crewOf({}));
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: { x: "y".repeat(2_000_000) } });
  const answer = await raw(url, { headers: { authorization }, body }).catch(() => ({ status: 413 }));
  expect(answer.status).toBe(413);
});

test("SRV-05: no connection is upgraded to another protocol", async () => {
  const url = await serving(crewOf({}));
  const headers = { authorization, connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
  const answer = await raw(url, {
    method: "GET",
    headers: { ...headers, "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==" },
  });
  expect(answer.status).toBeGreaterThanOrEqual(400);
});

test("SRV-06: an unusual id matches no run and no file", async () => {
  const client = await clientOf(await serving(crewOf({})), "auto");
  for (const run of ["../../etc/passwd", "run_/../x", "", "\u0000", "run_000000000000"])
    for (const name of ["result", "status", "cancel"])
      expect(await client.callTool({ name, arguments: { run } })).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining("UNKNOWN_RUN") }],
      });
  await client.close();
});

test("SRV-13: a port that is in use is reported", async () => {
  const { port } = await serving(crewOf({}));
  await expect(serveHttp(crewOf({}), { token: TOKEN, port: Number(port), onError: () => {} })).rejects.toMatchObject({
    code: "BAD_INPUT",
    hint: expect.stringContaining("--port"),
  });
});

test("SRV-12: an error reveals nothing about this machine", async () => {
  const url = await serving(crewOf({ a: [] }));
  const bodies = [
    "{",
    "[]",
    '{"jsonrpc":"2.0","id":1,"method":"nope"}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}',
  ];
  for (const body of bodies) {
    const { text } = await raw(url, { headers: { authorization }, body });
    expect(text).not.toMatch(/\/work|\/tmp|\/home|node_modules|at .*\.ts:|stack/);
  }
});
