import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { defineAgent } from "../../../../src/core/agent/agent.ts";
import { createCrew } from "../../../../src/crew.ts";
import { certificate } from "../../../support/certificate.ts";
import { kinds, provider } from "../../../support/talk.ts";

const library = join(import.meta.dirname, "../../../..", "dist", "lib", "index.js");

/** A server for one test, closed with all its connections. */
async function listening(server: Server): Promise<number> {
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const joined = (one: Socket, other: Socket): void => {
  for (const socket of [one, other]) socket.on("error", () => other.destroy());
  one.pipe(other).pipe(one);
};

/** A proxy as companies use them: CONNECT for TLS, full addresses for the rest. Every host name leads to `to`. */
async function startProxy(to: number, { refuse = false } = {}): Promise<{ port: number; asked: string[] }> {
  const asked: string[] = [];
  const proxy = createServer((req, res) => {
    asked.push(`${req.method} ${req.url} ${req.headers["proxy-authorization"] ?? "-"}`);
    const { pathname } = new URL(req.url ?? "");
    const way = connect(to, "127.0.0.1", () => {
      const { "proxy-authorization": _login, ...headers } = req.headers;
      const lines = Object.entries({ ...headers, connection: "close" }).map(
        ([name, value]) => `${name}: ${String(value)}`,
      );
      way.write(`${req.method} ${pathname} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
      req.pipe(way);
    });
    if (res.socket) way.pipe(res.socket);
  });
  proxy.on("connect", (req, socket: Socket) => {
    asked.push(`CONNECT ${req.url} ${req.headers["proxy-authorization"] ?? "-"}`);
    if (refuse) return socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    const way = connect(to, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      joined(socket, way);
    });
    return undefined;
  });
  return { port: await listening(proxy), asked };
}

/** A program that uses the library: one task on each model, and its output or fault. */
const program = `
const { createCrew, defineAgent } = await import(process.argv[1]);
const agent = defineAgent({ name: "a", description: "d", instructions: "i", tools: [] });
const crew = createCrew({ home: false, discover: false, agents: [agent] });
for (const model of process.argv.slice(2)) {
  const { output, fault } = await crew.run({ mode: "single", agent: "a", task: "hi", model, retry: { maxAttempts: 1, backoffMs: 1 } });
  console.log(fault ? fault.code + " " + fault.message : output);
}
process.exit();
`;

test("requests to models go through HTTPS_PROXY, with every client", async () => {
  const server = await provider(({ model }) => `I am ${model}`);
  const { key, cert, file } = certificate();
  const secure = createTlsServer({ key, cert }, (socket) =>
    joined(socket, connect(Number(new URL(server.url).port), "127.0.0.1")),
  );
  const { port, asked } = await startProxy(await listening(secure));
  const env = Object.fromEntries(
    Object.entries(server.env).map(([name, value]) => [name, value.replace(server.url, "https://secure.test")]),
  );
  const ask = async (more: Record<string, string>, ...models: string[]): Promise<string[]> => {
    const { PATH = "", HOME = "" } = process.env;
    const all = { PATH, HOME, ...env, NODE_EXTRA_CA_CERTS: file, ...more };
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--input-type=module", "-e", program, library, ...models],
      { env: all },
    );
    return stdout.trim().split("\n");
  };
  const gate = `http://me:secret@127.0.0.1:${port}`;
  const models = kinds.map(([, model]) => model).filter((model) => !model.startsWith("ollama"));
  expect(await ask({ HTTPS_PROXY: gate }, ...models)).toEqual(models.map((model) => `I am ${model.split("/")[1]}`));
  const login = `Basic ${Buffer.from("me:secret").toString("base64")}`;
  expect(new Set(asked)).toEqual(new Set([`CONNECT secure.test:443 ${login}`]));
  asked.length = 0;
  const [without] = await ask({ HTTPS_PROXY: gate, NO_PROXY: "secure.test" }, models[0]!);
  expect(without).toMatch(/^MODEL_NETWORK .*secure\.test/);
  expect(asked).toEqual([]);
});

const agent = defineAgent({ name: "a", description: "d", instructions: "i", tools: [] });
const run = (env: Record<string, string>) =>
  createCrew({ home: false, discover: false, agents: [agent], env }).run({
    mode: "single",
    agent: "a",
    task: "hi",
    model: "anthropic/claude-haiku-4-5",
    retry: { maxAttempts: 1, backoffMs: 1 },
  });

test("HTTP_PROXY gets the full address of a request without TLS", async () => {
  const server = await provider(["hello"]);
  const { port, asked } = await startProxy(Number(new URL(server.url).port));
  const env = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "http://model.test", HTTP_PROXY: `127.0.0.1:${port}` };
  expect(await run(env)).toMatchObject({ status: "ok", output: "hello" });
  expect(asked).toEqual(["POST http://model.test/v1/messages -"]);
});

test("an error names the proxy that refuses", async () => {
  const { port } = await startProxy(1, { refuse: true });
  const env = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "https://model.test", HTTPS_PROXY: `127.0.0.1:${port}` };
  expect(await run(env)).toMatchObject({
    status: "failed",
    fault: {
      code: "MODEL_NETWORK",
      message: expect.stringContaining(`the proxy 127.0.0.1:${port} answered 407`) as string,
    },
  });
});
