import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { CrewError } from "../core/schema/error.ts";
import { defined } from "../core/text/defined.ts";
import { whySkipped } from "../core/delegation/catalog.ts";
import { nearest } from "../core/text/nearest.ts";
import type { RunOptions } from "../crew/prepare/run-options.ts";
import type { Crew } from "../crew/crew-type.ts";
import type { NetworkRules } from "../runtime/network/guarded-fetch.ts";
import { openServer, type RunningServer, readJsonBody } from "../runtime/network/loopback-server.ts";
import { type Card, cardFor } from "./card.ts";
import { createPush, type Push } from "./push.ts";
import { loadProtocol, type Protocol } from "./sdk.ts";
import type { A2aRun } from "./served-run.ts";
import { Tasks } from "./tasks.ts";

export type A2aServerOptions = Readonly<{
  /**
   * The names of the offered agents; the first is also served at the root. `"*"` offers all agents that are not hidden.
   */
  agents: readonly string[] | "*";
  /** The host name or address to listen on; loopback by default. */
  host?: string;
  port?: number;
  /** Access tokens by name. Without any, one token is generated. */
  tokens?: Readonly<Record<string, string>>;
  /** True when cards can be read without a token. */
  publicCards?: boolean;
  /** The public URL of the server, if it differs from the address that the server listens on. */
  publicUrl?: string;
  /** Addresses that push notifications may use besides the public internet. */
  network?: NetworkRules;
  /** Environment variables that may name a proxy and certificate authorities for push notifications. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Options for every run of the server. */
  run?: Omit<RunOptions, "origin" | "id" | "continues" | "name">;
  onError?(error: unknown): void;
}>;

export type A2aServer = Readonly<{
  url: string;
  agents: readonly string[];
  tokens: Readonly<Record<string, string>>;
  /** The number of tasks that were resumed at the start. */
  takenUp: number;
  close(): Promise<void>;
}>;

const HEARTBEAT_MS = 15_000;
const CARD = ".well-known/agent-card.json";

/** Offers agents over the A2A protocol. Only named agents are offered, and every request needs a token. */
export async function serveA2a(crew: Crew, options: A2aServerOptions): Promise<A2aServer> {
  const { host, port, publicCards = false, publicUrl, onError = () => {} } = options;
  const names = await offered(crew, options.agents);
  const tokens = options.tokens ?? { caller: randomBytes(32).toString("hex") };
  const open = {
    ...(publicUrl !== undefined && { hosts: [new URL(publicUrl).host] }),
    ...defined({ host, port }),
  };
  const { tasks, push, protocol } = await parts(crew, options, names);
  const serving: RunningServer = await openServer({
    ...open,
    tokens,
    onError,
    isOpen: ({ method, url = "/" }) => publicCards && method === "GET" && url.endsWith(`/${CARD}`),
    handle: async (request, response, caller) => {
      const base = publicUrl?.replace(/\/+$/, "") ?? serving.url;
      const found = routeOf(request, names);
      if (!found) return void response.writeHead(404).end();
      const card = { ...(await cardOf(crew, found.agent, base)), ...(found.isRoot && { url: `${base}/` }) };
      await answer(request, response, { protocol, card, isCard: found.isCard, who: { caller, agent: found.agent } });
    },
  });
  const takenUp = await tasks.resume();
  return {
    url: serving.url,
    agents: names,
    tokens,
    takenUp,
    close: async () => {
      await tasks.close();
      await push.close();
      await serving.close();
    },
  };
}

type Parts = Readonly<{ tasks: Tasks; push: Push; protocol: Protocol }>;

async function parts(
  crew: Crew,
  { network, env, run, onError = () => {} }: A2aServerOptions,
  names: readonly string[],
): Promise<Parts> {
  const made: { tasks?: Tasks; push?: Push } = {};
  const protocol = await loadProtocol({ tasks: () => made.tasks!, push: () => made.push! });
  const rules = network ?? crew.settings.config.network;
  const push = createPush({
    kept: crew.kept,
    write: protocol.writePush,
    onError,
    ...(rules && { network: rules as NetworkRules }),
    ...defined({ env }),
  });
  /** Sends push notifications for questions and for the end of a task. */
  const heard = (served: A2aRun, { type }: { type: string }, registered: Promise<void>): void => {
    if (type !== "gate.opened" && type !== "run.ended") return;
    const { id } = served.run;
    const task = served.view();
    registered.then(() => push.tell(id, task)).catch(onError);
  };
  const tasks = new Tasks(crew, { agents: new Set(names), onError, heard, ...defined({ run }) });
  made.tasks = tasks;
  made.push = push;
  return { tasks, push, protocol };
}

/** The names of the offered agents. Throws for an unknown name. */
async function offered(crew: Crew, wanted: readonly string[] | "*"): Promise<readonly string[]> {
  const { agents, skipped } = await crew.catalog();
  if (wanted === "*") return agents.flatMap(({ name, hidden }) => (hidden ? [] : [name]));
  if (wanted.length === 0)
    throw new CrewError(
      "BAD_INPUT",
      "No agent given.",
      "Name agents with --agents, or use --all to serve every agent.",
    );
  const all = agents.map(({ name }) => name);
  for (const name of wanted) {
    if (all.includes(name)) continue;
    const close = nearest(name, all);
    throw new CrewError(
      "UNKNOWN_AGENT",
      `Unknown agent "${name}".`,
      whySkipped(skipped, name) ??
        (close === undefined ? "`subcrew agents` lists the agents." : `Did you mean "${close}"?`),
    );
  }
  return [...new Set(wanted)];
}

type Route = Readonly<{ agent: string; isCard: boolean; isRoot: boolean }>;

/** Parses a path: `/NAME` or `/NAME/.well-known/agent-card.json`. A path without a name means the first agent. */
function routeOf({ method, url = "/" }: IncomingMessage, names: readonly string[]): Route | undefined {
  const { pathname } = new URL(url, "http://here");
  const isCard = pathname.endsWith(`/${CARD}`);
  if (method !== (isCard ? "GET" : "POST")) return undefined;
  const base = (isCard ? pathname.slice(0, -CARD.length) : pathname).replace(/^\/|\/$/g, "");
  const agent = base === "" ? names[0] : names.find((name) => encodeURIComponent(name) === base || name === base);
  return agent === undefined ? undefined : { agent, isCard, isRoot: base === "" };
}

async function cardOf(crew: Crew, name: string, base: string): Promise<Card> {
  const agent = (await crew.catalog()).agents.find((each) => each.name === name);
  return cardFor(agent ?? { name, description: "" }, base);
}

type Answering = Readonly<{
  protocol: Protocol;
  card: Card;
  isCard: boolean;
  who: Readonly<{ caller: string; agent: string }>;
}>;

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { protocol, card, isCard, who }: Answering,
): Promise<void> {
  const given = request.headers["a2a-version"];
  const version = typeof given === "string" ? given : undefined;
  if (isCard) return json(response, protocol.card(card, version), { vary: "A2A-Version" });
  const reply = await protocol.handle(await readJsonBody(request), { who, version, card });
  if (!(Symbol.asyncIterator in reply)) return json(response, reply);
  const events = reply as AsyncGenerator<unknown, void>;
  response.on("close", () => void events.return()); // a disconnected client stops listening; the task continues
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  });
  const beat = setInterval(() => response.write(":\n\n"), HEARTBEAT_MS); // keep-alive, so that proxies do not close the connection
  response.on("close", () => clearInterval(beat));
  for await (const event of events) await write(response, `data: ${JSON.stringify(event)}\n\n`);
  response.end();
}

function json(response: ServerResponse, value: unknown, headers: Readonly<Record<string, string>> = {}): void {
  response
    .writeHead(200, { "content-type": "application/json", "cache-control": "no-store", ...headers })
    .end(JSON.stringify(value));
}

/** Writes to a response. Waits while the client reads slowly, so that unsent data does not fill the memory. */
function write(response: ServerResponse, text: string): Promise<void> {
  if (response.write(text) || response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const go = (): void => {
      response.off("drain", go).off("close", go);
      resolve();
    };
    response.on("drain", go).on("close", go);
  });
}
