import type { ServerResponse } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { defineAgent, type Event } from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/scripted.ts";
import { crewFor, listen, remoteAgent } from "../../a2a/lab.ts";
import { webServer } from "../../support/web-server.ts";

const SECRET = "kx5f1c9e7a2b4d8036-of-the-agent";
const text = (said: unknown) => [{ kind: "text", text: said }];
const message = (parts: unknown) => ({ kind: "message", messageId: "m", role: "agent", parts });
const task = (state: unknown, more: object = {}) => ({
  kind: "task",
  id: "t",
  contextId: "c",
  status: { state },
  ...more,
});
const artifact = (said: string, taskId = "t") => ({
  kind: "artifact-update",
  taskId,
  contextId: "c",
  artifact: { artifactId: "a", parts: text(said) },
});
const status = (state: string, taskId = "t") => ({ kind: "status-update", taskId, contextId: "c", status: { state } });
const nested = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`) as unknown;

const CARD = {
  protocolVersion: "0.3.0",
  name: "it",
  description: "",
  version: "1",
  preferredTransport: "JSONRPC",
  capabilities: {},
  skills: [],
  defaultInputModes: ["text"],
  defaultOutputModes: ["text"],
};

type Peer = Readonly<{
  card?: object;
  /** The answer to a message: the result, a stream of results, or a reply of the test's own. */
  result?: unknown;
  stream?: readonly unknown[];
  reply?(response: ServerResponse, other: string): void;
  /** The answer to a request for the task. */
  later?: unknown;
  auth?: object;
  retry?: object;
}>;

/** Sends one task to this peer: its outcome, every event as JSON, and the requests that another server got. */
async function ask({ card = {}, result, stream, reply, later, auth, retry }: Peer) {
  const other = await webServer({ "/": "{}", "/rpc": "{}" });
  const server = await webServer({
    "/card.json": (_, response) =>
      response.writeHead(200).end(
        JSON.stringify({
          ...CARD,
          url: server.url("/rpc"),
          capabilities: { streaming: stream !== undefined },
          ...card,
        }),
      ),
    "/rpc": (_, response) => {
      const { id, method } = JSON.parse(server.requests.at(-1)!.body) as { id: number; method: string };
      const rpc = (value: unknown): string => JSON.stringify({ jsonrpc: "2.0", id, result: value });
      const type = stream ? "text/event-stream" : "application/json";
      if (method === "tasks/get") response.writeHead(200, { "content-type": "application/json" }).end(rpc(later));
      else if (method === "tasks/cancel") response.writeHead(200).end(rpc(task("canceled")));
      else if (reply) reply(response, other.url("/rpc"));
      else if (stream) {
        // The stream stays open, as that of a server that never ends it.
        response
          .writeHead(200, { "content-type": type })
          .write(stream.map((each) => `data: ${rpc(each)}\n\n`).join(""));
        onTestFinished(() => void response.destroy());
      } else response.writeHead(200, { "content-type": type }).end(rpc(result));
    },
  });
  const remote = { cardUrl: server.url("/card.json"), ...(auth && { auth: auth as Record<string, unknown> }) };
  const crew = crewFor([server.host, other.host], { agents: [remoteAgent("it", remote)] });
  const run = crew.run({
    mode: "single",
    agent: "it",
    task: "go",
    resourceLimits: { maxDurationMs: 20_000 },
    ...retry,
  });
  const events: Event[] = await listen(run);
  const { nodes } = await run;
  return { outcome: nodes["it"]!, written: JSON.stringify([events, nodes]), elsewhere: other.requests };
}

const bearer = { type: "bearer", token: `!echo ${SECRET}` };
const INVALID = /does not follow the A2A protocol/;

test.each<[string, Peer, RegExp]>([
  ["text that is an object", { result: message(text({ a: 1 })) }, INVALID],
  ["a file that is missing", { result: message([{ kind: "file", file: null }]) }, INVALID],
  ["a status that is missing", { result: task("completed", { status: null }) }, INVALID],
  ["artifacts that are a number", { result: task("completed", { artifacts: 5 }) }, INVALID],
  ["a task id that is a number", { result: task("completed", { id: 5 }) }, INVALID],
  ["ids of two million characters", { result: task("completed", { id: "t".repeat(2_000_000) }) }, INVALID],
  ["JSON of 300 levels", { result: message([{ kind: "data", data: nested(300) }]) }, /nested deeper than 200 levels/],
  ["a page instead of JSON", { reply: (response) => response.end("<html>") }, /is not JSON/],
  ["another request's answer", { reply: (response) => response.end('{"jsonrpc":"2.0","id":99,"result":{}}') }, INVALID],
  ["too long an answer", { reply: (response) => response.end("x".repeat(6_000_000)) }, /longer than 5000000 bytes/],
  [
    "an invalid status",
    { reply: (response) => response.socket!.end("HTTP/1.1 700 Odd\r\n\r\n") },
    /invalid status 700/,
  ],
  [
    "an error that has no known code",
    { reply: (response) => response.end('{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no luck"}}') },
    /^Error calling remote agent "it": no luck$/,
  ],
  ["the task of somebody else", { result: task("working"), later: task("completed", { id: "other" }) }, /another task/],
])("a remote agent that answers with %s fails with REMOTE_FAILED and a sentence", async (_, peer, words) => {
  const { outcome } = await ask(peer);
  expect(outcome).toMatchObject({
    status: "failed",
    fault: { code: "REMOTE_FAILED", message: expect.stringMatching(words) },
  });
});

test.each<[string, object]>([
  ["an address of JavaScript", { url: "javascript:alert(1)" }],
  ["an address of a file", { url: "file:///etc/passwd" }],
  ["no address", { url: {} }],
  ["skills of nothing", { skills: [null] }],
  ["signatures that are a number", { signatures: 5 }],
  ["a version that is a number", { protocolVersion: 5 }],
])("an agent card with %s is REMOTE_CARD, and no secret is sent", async (_, card) => {
  const { outcome } = await ask({ card, auth: bearer, result: message(text("hello")) });
  expect(outcome).toMatchObject({
    status: "failed",
    fault: { code: "REMOTE_CARD", message: expect.stringContaining("agent card") },
  });
});

test.each<[string, Peer]>([
  ["the stream stays open", { stream: [task("working"), artifact("right"), status("completed")] }],
  ["the stream stays open after a message", { stream: [message(text("right"))] }],
  [
    "more follows after the end",
    { stream: [task("working"), artifact("right"), status("completed"), artifact("wrong"), status("working")] },
  ],
  [
    "updates of another task arrive",
    {
      stream: [
        task("working"),
        artifact("right"),
        artifact("wrong", "other"),
        status("failed", "other"),
        status("completed"),
      ],
    },
  ],
])("the result of a remote agent counts although %s", async (_, peer) => {
  expect((await ask(peer)).outcome).toMatchObject({ status: "ok", output: "right" });
});

test.each<[string, Peer]>([
  ["data", { result: message([...text("hello"), { kind: "data", data: { [SECRET]: [SECRET] } }]) }],
  ["only data", { result: message([{ kind: "data", data: { you: `${SECRET}!` } }]) }],
  [
    "ids",
    {
      result: task("working", { id: SECRET, contextId: SECRET }),
      later: task("completed", {
        id: SECRET,
        contextId: SECRET,
        artifacts: [{ artifactId: SECRET, parts: text("hello") }],
      }),
    },
  ],
])("a secret that a remote agent repeats in %s is in no event and no result", async (_, peer) => {
  const { outcome, written } = await ask({ ...peer, auth: bearer });
  expect(outcome.status).toBe("ok");
  expect(written).not.toContain(SECRET);
});

test("a known secret in a task, in the output before it, in a schema and in an answer is not sent to a remote agent", async () => {
  const coded = Buffer.from(SECRET).toString("base64");
  const server = await webServer({
    "/card.json": (_, response) => response.end(JSON.stringify({ ...CARD, url: server.url("/rpc") })),
    "/rpc": (_, response) => {
      const { id } = JSON.parse(server.requests.at(-1)!.body) as { id: number };
      const asks = server.requests.filter(({ url }) => url === "/rpc").length === 1;
      const result = asks
        ? task("input-required", { status: { state: "input-required", message: message(text("Which key?")) } })
        : task("completed", { artifacts: [{ artifactId: "a", parts: text('{"a":1}') }] });
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    },
  });
  const crew = crewFor([server.host], {
    agents: [
      remoteAgent("it", { cardUrl: server.url("/card.json") }),
      defineAgent({ name: "leaks", description: "", instructions: "" }),
    ],
    models: { m: scripted(`found ${SECRET} and ${coded}`) },
    model: "m",
    secrets: [SECRET],
  });
  const run = crew.run({
    mode: "chain",
    chain: [
      { agent: "leaks", task: "look" },
      { agent: "it", task: `use ${SECRET}, {previous}`, schema: { type: "object", description: SECRET } },
    ],
  });
  for await (const event of run)
    if (event.type === "gate.opened")
      await run.answer(event.path, { approve: true, text: `take ${SECRET}`, by: "a person" }, event.call);
  expect((await run).status).toBe("ok");
  const sent = server.requests.map(({ url, body }) => `${url} ${body}`).join("\n");
  expect(sent).toContain("found [redacted] and [redacted]");
  expect(sent).toContain("take [redacted]");
  expect(sent).not.toContain(SECRET);
  expect(sent).not.toContain(coded);
});

test("a key in the address of a request is not sent on with a redirect to another server", async () => {
  const { outcome, elsewhere } = await ask({
    auth: { type: "apiKey", in: "query", name: "key", key: SECRET },
    reply: (response, other) => response.writeHead(302, { location: `${other}?key=${SECRET}` }).end(),
  });
  expect(outcome).toMatchObject({ status: "failed", fault: { code: "DENIED" } });
  expect(elsewhere).toEqual([]);
});

test("a long reason is cut, and a task does not wait for more than a day", async () => {
  const failed = task("failed", { status: { state: "failed", message: { ...message(text("x".repeat(1_000_000))) } } });
  const { outcome } = await ask({ result: failed });
  expect(outcome).toMatchObject({
    fault: { code: "AGENT_REPORTED", message: expect.stringMatching(/more characters\)$/) },
  });
  const busy = await ask({
    reply: (response) => response.writeHead(429, { "retry-after": "99999999999" }).end(),
    retry: { retry: { maxAttempts: 3, backoffMs: 1 } },
  });
  expect(busy.outcome).toMatchObject({ fault: { code: "REMOTE_BUSY", retryAfterMs: 99_999_999_999_000 } });
});
