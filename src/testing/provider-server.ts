import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type FaultyTurn,
  type ProviderTurn,
  type SpokenTurn,
  SOME_USAGE,
  statusFaults,
  type WireFault,
} from "./provider-turn.ts";
import { type CachedRequest, createPrefixCache } from "./prefix-cache.ts";
import type { ProviderDialect, WireName } from "./wire.ts";
import { anthropic } from "./wire-anthropic.ts";
import { chatWire } from "./wire-chat.ts";
import { google } from "./wire-google.ts";
import { responses } from "./wire-responses.ts";

const wires: readonly ProviderDialect[] = [chatWire, anthropic, responses, google];

/** One request that reached the test server. */
export type ProviderRequest = Readonly<{
  wire: WireName;
  path: string;
  headers: IncomingHttpHeaders;
  body: Readonly<Record<string, unknown>>;
  model: string;
  /** How the request ended: the answer was complete, or the client closed the connection first. */
  ended: Promise<"answered" | "hung up">;
}>;

/** The answers in order, one per request; or a function that computes the turn from a request, numbered from 1. */
export type ProviderScript =
  | readonly ProviderTurn[]
  | ((request: ProviderRequest, n: number) => ProviderTurn | Promise<ProviderTurn>);

export type ProviderServerOptions = Readonly<{
  /** The port; by default a free port. */
  port?: number;
  /** The wait before each answer. */
  latencyMs?: number;
  /** False: requests are not recorded, because long runs would fill the memory. */
  record?: boolean;
  /**
   * True: the server simulates a provider's cache, from which it computes the usage of turns for which the script gives
   * no usage.
   */
  cache?: boolean;
  /** The models that the server lists at `/v1/models` and `/v1beta/models`; absent: it has no such list. */
  models?: readonly string[];
}>;

export type ProviderServer = Readonly<{
  url: string;
  /** The requests received so far, in order. */
  requests: readonly ProviderRequest[];
  /** Environment variables that direct every provider to this server, with fake keys. */
  env: Readonly<Record<string, string>>;
  /** The number of open connections. */
  connections(): Promise<number>;
  close(): Promise<void>;
}>;

/**
 * A local model provider with four wire formats: OpenAI chat completions (`/v1`) and responses (`/v1`), Anthropic
 * messages (`/v1`) and Google generateContent (`/v1beta`). A script decides its answers and failures.
 */
export async function startProviderServer(
  script: ProviderScript,
  { port = 0, latencyMs = 0, record = true, cache = false, models }: ProviderServerOptions = {},
): Promise<ProviderServer> {
  const requests: ProviderRequest[] = [];
  const closing = new AbortController();
  let count = 0;
  const prefixes = cache ? createPrefixCache() : undefined;

  const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const path = (req.url ?? "").split("?")[0] ?? "";
    if (models !== undefined && req.method === "GET" && path.endsWith("/models")) {
      sendJson(res, 200, { object: "list", data: models.map((id) => ({ id, object: "model" })) });
      return;
    }
    const wire = wires.find(({ matches }) => matches(path));
    const body = await bodyOf(req);
    if (wire === undefined || body === undefined) {
      sendJson(res, wire === undefined ? 404 : 400, {
        error: { message: `Nothing is served at ${path}.`, type: "not_found" },
      });
      return;
    }
    const gone = new AbortController();
    const ended = new Promise<"answered" | "hung up">((resolve) => {
      res.once("close", () => {
        gone.abort();
        resolve(res.writableFinished ? "answered" : "hung up");
      });
    });
    count += 1;
    const n = count;
    const { model, stream } = wire.asks(body, path);
    const request: ProviderRequest = { wire: wire.name, path, headers: req.headers, body, model, ended };
    if (record) requests.push(request);
    const turn = typeof script === "function" ? await script(request, n) : (script[n - 1] ?? over(script.length));
    const signal = AbortSignal.any([gone.signal, closing.signal]);
    const cached = prefixes?.request(wire.name, model, body);
    const answer = { wire, request, res, stream, n, signal, ...(cached && { cached }) };
    const wait = latencyMs + (typeof turn === "string" ? 0 : (turn.delayMs ?? 0));
    if (wait > 0) await sleep(wait, undefined, { signal });
    if (typeof turn === "string") await speak({ text: turn }, answer);
    else if ("fault" in turn) await fail(turn, answer);
    else await speak(turn, answer);
  };

  const server = createServer({ keepAliveTimeout: 60_000 }, (req, res) => {
    handle(req, res).catch((error: unknown) => {
      if (res.destroyed || closing.signal.aborted) return;
      if (res.headersSent) res.destroy();
      else sendJson(res, 400, { error: { message: `The script failed: ${String(error)}`, type: "script" } });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: "127.0.0.1", backlog: 4_096 }, resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    env: environment(url),
    connections: () => new Promise((resolve, reject) => server.getConnections((e, n) => (e ? reject(e) : resolve(n)))),
    close: () =>
      new Promise((resolve) => {
        closing.abort();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Answer = Readonly<{
  wire: ProviderDialect;
  request: ProviderRequest;
  res: ServerResponse;
  stream: boolean;
  n: number;
  signal: AbortSignal;
  cached?: CachedRequest;
}>;

const EVENT_STREAM = { "content-type": "text/event-stream", "cache-control": "no-cache" };

async function speak(spoken: SpokenTurn, { wire, request, res, stream, n, signal, cached }: Answer): Promise<void> {
  const about = { model: request.model, n };
  const turn = cached && !spoken.usage ? { ...spoken, usage: { ...cached.usage, output: SOME_USAGE.output } } : spoken;
  cached?.arrived();
  if (!stream) return sendJson(res, 200, wire.whole(turn, about));
  const events = wire.events(turn, about);
  res.writeHead(200, EVENT_STREAM);
  if (turn.paceMs === undefined) {
    res.end(events.join(""));
    return;
  }
  for (const event of events) {
    res.write(event);
    await sleep(turn.paceMs, undefined, { signal });
  }
  res.end();
}

async function fail(turn: FaultyTurn, answer: Answer): Promise<void> {
  const { wire, res, request } = answer;
  if (!(turn.fault in statusFaults)) return wireFaults[turn.fault as WireFault](turn, answer);
  const fault = statusFaults[turn.fault as keyof typeof statusFaults];
  const said =
    turn.message ?? (turn.fault === "echo-key" ? `${fault.message}${keyIn(request.headers)}` : fault.message);
  const headers = turn.retryAfter === undefined ? {} : { "retry-after": turn.retryAfter };
  sendJson(res, fault.status, wire.error({ ...fault, message: said }), headers);
}

const wireFaults: Readonly<Record<WireFault, (turn: FaultyTurn, answer: Answer) => Promise<void> | void>> = {
  reset: (_, { res }) => void res.destroy(),
  hang: (_, { signal }) => ended(signal),
  "no-content": (_, { res }) => void res.writeHead(204).end(),
  redirect: (_, { res }) => void res.writeHead(307, { location: "http://127.0.0.1:1/elsewhere" }).end(),
  html: (_, { res }) => void res.writeHead(200, { "content-type": "text/html" }).end("<html>Please sign in.</html>"),
  "wrong-shape": (_, { res }) => sendJson(res, 200, { hello: "world" }),
  "not-json": (_, { res }) => void res.writeHead(200, EVENT_STREAM).end("data: {nonsense\n\ndata: more\n\n"),
  empty: (_, answer) => speak({}, answer),
  "error-event": (turn, answer) => beginning(turn, answer, ({ res, wire }) => void res.end(wire.errorEvent(turn))),
  cut: (turn, answer) => beginning(turn, answer, ({ res }) => void res.end()),
  dropped: (turn, answer) =>
    beginning(turn, answer, async ({ res, signal }) => {
      // the data that was already written must arrive before the connection breaks
      await sleep(20, undefined, { signal });
      res.destroy();
    }),
  endless: async (turn, { wire, request, res, n, signal }) => {
    const events = wire.events({ text: turn.text ?? "and on " }, { model: request.model, n });
    const word = events.find((event) => event.includes(turn.text ?? "and on ")) ?? "";
    res.writeHead(200, EVENT_STREAM);
    res.write(events.slice(0, events.indexOf(word)).join(""));
    for (;;) {
      res.write(word);
      await sleep(5, undefined, { signal });
    }
  },
};

/** The beginning of an answer; the simulated fault decides how it continues. */
async function beginning(
  { text = "" }: FaultyTurn,
  answer: Answer,
  then: (answer: Answer) => Promise<void> | void,
): Promise<void> {
  const { wire, request, res, n } = answer;
  const events = wire.events({ text: [text, "and so on"] }, { model: request.model, n });
  const end = events.findIndex((event) => event.includes(JSON.stringify(text)));
  res.writeHead(200, EVENT_STREAM);
  res.write(text === "" ? ": nothing yet\n\n" : events.slice(0, end + 1).join(""));
  await then(answer);
}

const over = (turns: number): FaultyTurn => ({
  fault: "bad-request",
  message: `The script is over: it has ${turns} turns, and one more was asked for.`,
});

function keyIn(headers: IncomingHttpHeaders): string {
  return String(headers.authorization ?? headers["x-api-key"] ?? headers["x-goog-api-key"] ?? "");
}

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

function sendJson(res: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}): void {
  res.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
}

async function bodyOf(req: IncomingMessage): Promise<Record<string, unknown> | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8")) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function environment(url: string): Record<string, string> {
  const key = "local-provider-key";
  return {
    ANTHROPIC_API_KEY: key,
    ANTHROPIC_BASE_URL: url,
    OPENAI_API_KEY: key,
    OPENAI_BASE_URL: `${url}/v1`,
    GEMINI_API_KEY: key,
    GEMINI_BASE_URL: `${url}/v1beta`,
    OLLAMA_HOST: url,
  };
}
