import { copyFileSync, mkdirSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { type Event, openDelegation } from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/scripted.ts";
import { deferred } from "../../../src/runtime/async/deferred.ts";
import { patiently } from "../../support/patiently.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { webServer } from "../../support/web-server.ts";
import { crewFor, listen, remoteAgent } from "../../a2a/lab.ts";
import { rpcServer } from "../../a2a/rpc-server.ts";
import { sdkServer, TaskState } from "../../a2a/sdk-server.ts";

test("the message of a remote agent is its result", async () => {
  const server = await sdkServer(({ text }, say) => say.message(`you said ${text}`));
  const crew = crewFor([server.host], { agents: [remoteAgent("echo", { cardUrl: server.cardUrl })] });

  const run = crew.run({ mode: "single", agent: "echo", task: "hello" });
  const events = await listen(run);

  expect(run.state.outcome).toMatchObject({ status: "ok", output: "you said hello" });
  expect(events.flatMap((event) => (event.type === "text.delta" ? [event.text] : [])).join("")).toBe("you said hello");
});

test("an artifact that a remote agent sends in pieces is one result, without the artifact's heading", async () => {
  const server = await sdkServer((_, say) => {
    say.task();
    say.status(TaskState.TASK_STATE_WORKING, "thinking");
    say.artifact("one ", { name: "Report" });
    say.artifact("two", { name: "Report", append: true });
    say.status(TaskState.TASK_STATE_COMPLETED);
  });
  const crew = crewFor([server.host], { agents: [remoteAgent("writer", { cardUrl: server.cardUrl })] });

  const run = crew.run({ mode: "single", agent: "writer", task: "write" });
  const events = await listen(run);

  expect(run.state.outcome).toMatchObject({ status: "ok", output: "one two" });
  expect(events.flatMap((event) => (event.type === "text.delta" ? [event.text] : [])).join("")).toBe(
    "thinking\none two",
  );
});

test("a card inside of the file needs no address, and a base address leads to the card", async () => {
  const server = await sdkServer(({ text }, say) => say.message(text));
  const cardJson = await (await fetch(server.cardUrl)).text();
  const crew = crewFor([server.host], {
    agents: [remoteAgent("inline", { cardJson }), remoteAgent("base", { cardUrl: server.url("/") })],
  });

  const results = await crew.run({
    mode: "parallel",
    tasks: [
      { agent: "inline", task: "a" },
      { agent: "base", task: "b" },
    ],
  });

  expect(results.status).toBe("ok");
  expect(Object.values(results.nodes).flatMap((node) => ("output" in node ? [node.output] : []))).toEqual(
    expect.arrayContaining(["a", "b"]),
  );
});

test("a card is fetched once per crew, however many tasks go there", async () => {
  const server = await sdkServer(({ text }, say) => say.message(text));
  const crew = crewFor([server.host], { agents: [remoteAgent("echo", { cardUrl: server.cardUrl })] });

  const { status } = await crew.run({
    mode: "parallel",
    tasks: ["a", "b", "c"].map((task) => ({ agent: "echo", task })),
  });
  await crew.run({ mode: "single", agent: "echo", task: "d" });

  expect(status).toBe("ok");
  expect(server.requests.filter(({ url }) => url.includes("agent-card"))).toHaveLength(1);
});

test("a remote agent is a member of a team like any other", async () => {
  const server = await sdkServer(({ text }, say) => say.message(`<${text}>`));
  const crew = crewFor([server.host], { agents: [remoteAgent("echo", { cardUrl: server.cardUrl })] });
  const tasks = [
    { id: "one", task: "a", assignee: "far" },
    { id: "two", task: "b after {result:one}", assignee: "far", depends: ["one"] },
  ];

  const run = crew.run({ mode: "team", team: { members: [{ role: "far", agent: "echo" }], tasks } });
  await run;

  expect(run.state.outcome?.status).toBe("ok");
  expect(run.state.nodes.get("two")?.outcome).toMatchObject({ output: expect.stringContaining("b after <") });
});

test("a remote reviewer that gives no verdict is asked for it once", async () => {
  const asked: string[] = [];
  const server = await sdkServer(({ text }, say) => {
    asked.push(text);
    say.message(asked.length === 1 ? "Fine." : "APPROVED");
  });
  const crew = crewFor([server.host], {
    agents: [remoteAgent("far", { cardUrl: server.cardUrl })],
    models: { here: scripted("draft") },
  });
  const result = await crew.run({
    mode: "team",
    team: {
      members: [
        { role: "rev", agent: "far" },
        { role: "dev", model: "here" },
      ],
      tasks: [{ id: "build", task: "Build it.", assignee: "dev", review: { reviewer: "rev" } }],
    },
  });
  expect(result.nodes["build"]).toMatchObject({ status: "ok", approved: true });
  expect(asked).toEqual([expect.stringContaining("draft"), expect.stringContaining("Your review has no verdict.")]);
});

test("a remote agent can be offered as its own tool, like a local one", async () => {
  const server = await sdkServer(({ text }, say) => say.message(`you said ${text}`));
  const crew = crewFor([server.host], { agents: [remoteAgent("echo", { cardUrl: server.cardUrl })] });

  const office = openDelegation(crew, { as: ["agents"] });
  const { text } = await office.call("echo", { query: "hello" }, { signal: new AbortController().signal });

  expect(text).toContain("you said hello");
});

describe("a question of a remote agent", () => {
  const asking = (tasks: string[] = []) =>
    sdkServer(({ text, turn, taskId, contextId }, say) => {
      tasks.push(`${contextId}/${taskId}`);
      say.task(turn === 1 ? TaskState.TASK_STATE_SUBMITTED : TaskState.TASK_STATE_WORKING);
      if (turn === 1) return say.status(TaskState.TASK_STATE_INPUT_REQUIRED, "Which colour?");
      say.artifact(`painted ${text}`);
      say.status(TaskState.TASK_STATE_COMPLETED);
    });

  test("becomes a question to the person, and the answer goes to the same task", async () => {
    const tasks: string[] = [];
    const server = await asking(tasks);
    const crew = crewFor([server.host], { agents: [remoteAgent("painter", { cardUrl: server.cardUrl })] });

    const run = crew.run({ mode: "single", agent: "painter", task: "paint" });
    const events = await listen(run, () => ({ approve: true, text: "blue" }));

    expect(run.state.outcome).toMatchObject({ status: "ok", output: "painted blue" });
    expect(events.filter(({ type }) => type === "gate.opened")).toMatchObject([
      { question: "painter asks: Which colour?" },
    ]);
    expect(tasks).toHaveLength(2);
    expect(tasks[1]).toBe(tasks[0]);
  });

  test("does not end the stream that answers it, which begins with the task as it was", async () => {
    let question = "";
    const server = await sdkServer(async ({ turn, text }, say) => {
      if (turn === 1) {
        say.task();
        return say.status(TaskState.TASK_STATE_INPUT_REQUIRED, "Which colour?");
      }
      say.task(TaskState.TASK_STATE_INPUT_REQUIRED, question);
      if (text === "blue") {
        question = "Which shade?";
        return say.status(TaskState.TASK_STATE_INPUT_REQUIRED, question);
      }
      say.status(TaskState.TASK_STATE_WORKING);
      say.artifact(`painted ${text}`);
      say.status(TaskState.TASK_STATE_COMPLETED);
    });
    const crew = crewFor([server.host], { agents: [remoteAgent("painter", { cardUrl: server.cardUrl })] });
    question = "Which colour?";

    const run = crew.run({ mode: "single", agent: "painter", task: "paint" });
    const replies = ["blue", "dark"];
    const events = await listen(run, () => ({ approve: true, text: replies.shift() ?? "none" }));

    expect(run.state.outcome).toMatchObject({ status: "ok", output: "painted dark" });
    expect(events.flatMap((event) => (event.type === "gate.opened" ? [event.question] : []))).toEqual([
      "painter asks: Which colour?",
      "painter asks: Which shade?",
    ]);
    expect(server.sent).toHaveLength(3);
  });

  test("is not asked again when the stream that answers it breaks off behind it", async () => {
    let replies = 0;
    const gone = deferred<void>();
    const server = await sdkServer(
      async ({ turn, text }, say) => {
        if (turn === 1) {
          say.task();
          return say.status(TaskState.TASK_STATE_INPUT_REQUIRED, "Which colour?");
        }
        say.task(TaskState.TASK_STATE_INPUT_REQUIRED, "Which colour?");
        await gone.promise;
        say.artifact(`painted ${text}`);
        say.status(TaskState.TASK_STATE_COMPLETED);
      },
      {
        guard: (request, response) => {
          if (request.method !== "POST" || (replies += 1) !== 2) return false;
          const write = response.write.bind(response);
          response.write = ((chunk: string) => {
            write(chunk);
            setImmediate(() => (response.destroy(), gone.resolve()));
            return true;
          }) as typeof response.write;
          return false;
        },
      },
    );
    const crew = crewFor([server.host], { agents: [remoteAgent("painter", { cardUrl: server.cardUrl })] });

    const run = crew.run({ mode: "single", agent: "painter", task: "paint" });
    const events = await listen(run, () => ({ approve: true, text: "blue" }));

    expect(run.state.outcome).toMatchObject({ status: "ok", output: "painted blue" });
    expect(events.filter(({ type }) => type === "gate.opened")).toHaveLength(1);
  });

  test("fails in an unattended run, and the remote agent is told", async () => {
    const server = await asking();
    const crew = crewFor([server.host], {
      agents: [remoteAgent("painter", { cardUrl: server.cardUrl })],
      unattended: true,
    });

    const { status, nodes } = await crew.run({ mode: "single", agent: "painter", task: "paint" });

    expect(status).toBe("failed");
    expect(nodes["painter"]).toMatchObject({
      fault: { code: "NEEDS_ANSWER", message: expect.stringContaining("Which colour?") },
    });
    expect(server.cancelled).toHaveLength(1);
  });
});

test("cancelling a run cancels the remote task", async () => {
  const begun = deferred<void>();
  const server = await sdkServer(async (_, say) => {
    say.task();
    say.status(TaskState.TASK_STATE_WORKING, "on it");
    await new Promise(() => {});
  });
  const crew = crewFor([server.host], { agents: [remoteAgent("slow", { cardUrl: server.cardUrl })] });
  const run = crew.run({ mode: "single", agent: "slow", task: "go" });
  void listen(run).finally(begun.resolve);
  await vi.waitFor(() => expect(run.state.nodes.get("slow")?.text).toContain("on"), 60_000);

  run.cancel("enough");
  await run;

  expect(run.state.outcome).toMatchObject({ status: "cancelled", reason: "enough" });
  expect(server.cancelled).toHaveLength(1);
});

test("a remote agent that loses a race is cancelled remotely", async () => {
  const slow = await sdkServer(async (_, say) => {
    say.task(TaskState.TASK_STATE_WORKING);
    await new Promise(() => {});
  });
  const fast = await sdkServer(async (_, say) => {
    await vi.waitFor(() => expect(slow.sent).toHaveLength(1), 60_000);
    say.message("first");
  });
  const agents = [remoteAgent("slow", { cardUrl: slow.cardUrl }), remoteAgent("fast", { cardUrl: fast.cardUrl })];
  const crew = crewFor([slow.host, fast.host], { agents });

  const result = await crew.run({ mode: "race", race: { agents: ["slow", "fast"], task: "go" } });

  expect(result).toMatchObject({ status: "ok", output: "first" });
  await vi.waitFor(() => expect(slow.cancelled).toHaveLength(1), 60_000);
});

test.each([
  ["failed", TaskState.TASK_STATE_FAILED, "AGENT_REPORTED", "failed: no luck"],
  ["rejected", TaskState.TASK_STATE_REJECTED, "REMOTE_REFUSED", "refused the task: no luck"],
  ["stopped", TaskState.TASK_STATE_CANCELED, "AGENT_REPORTED", "cancelled the task: no luck"],
])("a task that ends %s is a failure with its message", async (_, state, code, words) => {
  const server = await sdkServer((__, say) => {
    say.task();
    say.status(state, "no luck");
  });
  const crew = crewFor([server.host], { agents: [remoteAgent("unlucky", { cardUrl: server.cardUrl })] });

  const { nodes } = await crew.run({ mode: "single", agent: "unlucky", task: "go" });

  expect(nodes["unlucky"]).toMatchObject({ status: "failed", fault: { code, message: `unlucky ${words}` } });
});

test("an agent without streams that answers before it is done is polled until it is", async () => {
  const task = (state: string, more: object = {}): object => ({
    kind: "task",
    id: "t1",
    contextId: "c1",
    status: { state },
    ...more,
  });
  const server = await rpcServer([
    task("working"),
    task("working"),
    task("completed", { artifacts: [{ artifactId: "a", parts: [{ kind: "text", text: "at last" }] }] }),
  ]);
  const crew = crewFor([server.host], { agents: [remoteAgent("old", { cardUrl: server.cardUrl })] });

  expect(await crew.run({ mode: "single", agent: "old", task: "go" })).toMatchObject({
    status: "ok",
    output: "at last",
  });
});

test("a stream that breaks off is not the end: the state of the task is requested", async () => {
  let broke = false;
  const gone = deferred<void>();
  const server = await sdkServer(
    async (_, say) => {
      say.task();
      say.status(TaskState.TASK_STATE_WORKING, "half way");
      await gone.promise;
      say.artifact("all the way");
      say.status(TaskState.TASK_STATE_COMPLETED);
    },
    {
      guard: (request, response) => {
        if (broke || request.method === "GET") return false;
        broke = true;
        const end = response.write.bind(response);
        response.write = ((chunk: string) => {
          end(chunk);
          if (chunk.includes("half way")) setImmediate(() => (response.destroy(), gone.resolve()));
          return true;
        }) as typeof response.write;
        return false;
      },
    },
  );
  const crew = crewFor([server.host], { agents: [remoteAgent("shaky", { cardUrl: server.cardUrl })] });

  expect(await crew.run({ mode: "single", agent: "shaky", task: "go" })).toMatchObject({
    status: "ok",
    output: "all the way",
  });
});

test("an answer that does not match the schema is requested again, and a structured value is kept unchanged", async () => {
  const server = await sdkServer(({ turn, text }, say) => {
    say.task();
    if (turn === 1) {
      expect(text).toContain('"required":["n"]');
      say.artifact("not JSON");
    } else say.artifact("", { data: { n: 42 } });
    say.status(TaskState.TASK_STATE_COMPLETED);
  });
  const crew = crewFor([server.host], { agents: [remoteAgent("typed", { cardUrl: server.cardUrl })] });
  const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };

  const result = await crew.run({ mode: "single", agent: "typed", task: "count", schema });

  expect(result).toMatchObject({ status: "ok", data: { n: 42 } });
  expect(server.sent).toHaveLength(2);
  expect(server.sent[1]!.contextId).toBe(server.sent[0]!.contextId || server.sent[1]!.contextId);
});

test("the usage of a remote agent is unknown unless it reports it, and reported usage is counted", async () => {
  const server = await sdkServer(({ turn }, say) => {
    say.task();
    const usage = { input: 7, output: 5, cacheRead: 0, cacheWrite: 0, reasoning: 0, contextTokens: 7, turns: 2 };
    say.status(
      TaskState.TASK_STATE_COMPLETED,
      "done",
      turn === 1 ? undefined : { "subcrew.usage": { usage, cost: { usd: 0.5, unpriced: 0 } } },
    );
  });
  const crew = crewFor([server.host], { agents: [remoteAgent("dear", { cardUrl: server.cardUrl })] });

  const silent = await crew.run({ mode: "single", agent: "dear", task: "go" });
  const told = await crew.run({ mode: "single", agent: "dear", task: "go" });

  expect(silent).toMatchObject({ cost: { usd: 0, unpriced: 1 } });
  expect(told).toMatchObject({ cost: { usd: 0.5, unpriced: 0 }, usage: { input: 7, output: 5, turns: 2 } });
});

test("the reported usage of a remote agent counts against the budget of the run", async () => {
  const server = await sdkServer((_, say) => {
    say.task();
    const usage = { input: 7, output: 5, cacheRead: 0, cacheWrite: 0, reasoning: 0, contextTokens: 7, turns: 1 };
    say.status(TaskState.TASK_STATE_COMPLETED, "done", { "subcrew.usage": { usage, cost: { usd: 0.5, unpriced: 0 } } });
  });
  const crew = crewFor([server.host], { agents: [remoteAgent("dear", { cardUrl: server.cardUrl })] });
  const chain = [
    { agent: "dear", task: "one" },
    { agent: "dear", task: "two" },
  ];

  const run = crew.run({ mode: "chain", chain }, { budget: { maxUsd: 0.4 } });
  await run;

  expect(run.state.outcome).toMatchObject({ status: "failed", fault: { code: "BUDGET" } });
  expect(server.sent).toHaveLength(1);
});

describe("a conversation", () => {
  test("belongs to one chain of calls: two calls of one agent do not share it", async () => {
    const server = await sdkServer(({ contextId }, say) => {
      say.task();
      say.status(TaskState.TASK_STATE_COMPLETED, contextId);
    });
    const crew = crewFor([server.host], { agents: [remoteAgent("echo", { cardUrl: server.cardUrl })] });

    const { nodes } = await crew.run({
      mode: "parallel",
      tasks: [
        { agent: "echo", task: "a" },
        { agent: "echo", task: "b" },
      ],
    });

    const contexts = Object.values(nodes).flatMap((node) =>
      "output" in node && node.output && !node.output.includes("\n") ? [node.output] : [],
    );
    expect(new Set(contexts).size).toBe(2);
    expect(server.sent.map(({ contextId }) => contextId).every((id, at, all) => all.indexOf(id) === at)).toBe(true);
  });

  test("continues when its task is continued", async () => {
    const server = await sdkServer(({ contextId }, say) => {
      say.task();
      say.status(TaskState.TASK_STATE_COMPLETED, contextId);
    });
    const crew = crewFor([server.host], { agents: [remoteAgent("echo", { cardUrl: server.cardUrl })] });
    const first = await crew.run({ mode: "single", agent: "echo", task: "one" });

    const { plan, continues } = await crew.continuing({ run: first.id, prompt: "two", allowFailed: false });
    const second = await crew.run(plan, { continues });

    expect(second).toMatchObject({ status: "ok", output: first.output });
  });

  test("continues after a crash without sending anything twice", async () => {
    const go = deferred<void>();
    const server = await sdkServer(async (_, say) => {
      say.task();
      say.status(TaskState.TASK_STATE_WORKING, "working");
      await go.promise;
      say.artifact("the result");
      say.status(TaskState.TASK_STATE_COMPLETED);
    });
    const agents = [remoteAgent("slow", { cardUrl: server.cardUrl })];
    const before = crewFor([server.host], { agents });
    const run = before.run({ mode: "single", agent: "slow", task: "go" });
    const events: Event[] = [];
    void (async () => {
      for await (const event of run) events.push(event);
    })();
    await vi.waitFor(() => expect(events.some(({ type }) => type === "remote.joined")).toBe(true), 60_000);

    const home = afterCrash((await before.kept.look(run.id)).place, run.id);
    const resumed = crewFor([server.host], { agents, home }).resume(run.id);
    go.resolve();

    expect(await resumed).toMatchObject({ status: "ok", output: "the result" });
    expect(server.sent).toHaveLength(1);
    await run;
  });

  test("a message that was being sent at a crash is not sent again automatically", async () => {
    const arrived = deferred<void>();
    const server = await webServer({
      "/card.json": (_, response) => response.writeHead(200).end(JSON.stringify(oldCard(server.url("/rpc")))),
      "/rpc": () => arrived.resolve(),
    });
    const agents = [remoteAgent("silent", { cardUrl: server.url("/card.json") })];
    const before = crewFor([server.host], { agents });
    const run = before.run({ mode: "single", agent: "silent", task: "go" });
    await arrived.promise;

    const home = afterCrash((await before.kept.look(run.id)).place, run.id);
    const { nodes } = await crewFor([server.host], { agents, home }).resume(run.id);

    expect(nodes["silent"]).toMatchObject({ status: "failed", fault: { code: "REMOTE_LOST" } });
    expect(server.requests.filter(({ url }) => url === "/rpc")).toHaveLength(1);
    run.cancel();
    await run;
  });
});

describe("errors", () => {
  const failing = async (answer: (response: ServerResponse, n: number) => void, options: object = {}) => {
    const server = await webServer({
      "/card.json": (_, response) => response.writeHead(200).end(JSON.stringify(oldCard(server.url("/rpc")))),
      "/rpc": (_, response) => answer(response, server.requests.filter(({ url }) => url === "/rpc").length),
    });
    const crew = crewFor([server.host], { agents: [remoteAgent("it", { cardUrl: server.url("/card.json") })] });
    const { nodes } = await crew.run({ mode: "single", agent: "it", task: "go", ...options });
    return { outcome: nodes["it"], server };
  };
  const rpc = (response: ServerResponse, body: object): void =>
    void response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ jsonrpc: "2.0", id: 1, ...body }));

  test.each([
    [401, "REMOTE_AUTH"],
    [404, "REMOTE_CARD"],
    [429, "REMOTE_BUSY"],
    [500, "REMOTE_FAILED"],
  ])("the status %i becomes %s", async (status, code) => {
    const { outcome } = await failing((response) => response.writeHead(status).end("no"));
    expect(outcome).toMatchObject({
      status: "failed",
      fault: {
        code,
        message: expect.stringMatching(/^Error calling remote agent "it": .*no\)$/),
        hint: expect.any(String),
      },
    });
  });

  test("a busy agent is retried as the retry rule says", async () => {
    const done = {
      result: { kind: "message", messageId: "m", role: "agent", parts: [{ kind: "text", text: "at last" }] },
    };
    const { outcome } = await failing(
      (response, n) => (n === 1 ? response.writeHead(503, { "retry-after": "0" }).end() : rpc(response, done)),
      {
        retry: { maxAttempts: 2, backoffMs: 1 },
      },
    );
    expect(outcome).toMatchObject({ status: "ok", output: "at last" });
  });

  test("an error of the protocol is reported with its message", async () => {
    const { outcome } = await failing((response) =>
      rpc(response, { error: { code: -32005, message: "no text here" } }),
    );
    expect(outcome).toMatchObject({
      fault: {
        code: "REMOTE_FAILED",
        message: 'Error calling remote agent "it": no text here',
        hint: "The remote agent does not accept text.",
      },
    });
  });

  test("a connection that breaks after the message was sent is not retried", async () => {
    const { outcome, server } = await failing((response) => response.destroy(), {
      retry: { maxAttempts: 3, backoffMs: 1 },
    });
    expect(outcome).toMatchObject({ fault: { code: "REMOTE_LOST" } });
    expect(server.requests.filter(({ url }) => url === "/rpc")).toHaveLength(1);
  });

  test("an invalid agent card is reported", async () => {
    const server = await webServer({ "/card.json": "<html>hello</html>" });
    const crew = crewFor([server.host], { agents: [remoteAgent("it", { cardUrl: server.url("/card.json") })] });
    const { nodes } = await crew.run({ mode: "single", agent: "it", task: "go" });
    expect(nodes["it"]).toMatchObject({
      fault: { code: "REMOTE_CARD", message: expect.stringContaining("is not an agent card") },
    });
  });

  test("an unreachable agent is a retryable failure", async () => {
    const crew = crewFor(["127.0.0.1:1"], { agents: [remoteAgent("it", { cardUrl: "http://127.0.0.1:1/card.json" })] });
    const { nodes } = await crew.run({ mode: "single", agent: "it", task: "go" });
    expect(nodes["it"]).toMatchObject({ fault: { code: "REMOTE_NETWORK", retryable: true } });
  });

  test("a task that takes too long is cancelled locally and remotely", async () => {
    await patiently(async (times) => {
      const server = await sdkServer(async (_, say) => {
        say.task(TaskState.TASK_STATE_WORKING);
        await new Promise(() => {});
      });
      const crew = crewFor([server.host], { agents: [remoteAgent("slow", { cardUrl: server.cardUrl })] });
      const resourceLimits = { maxDurationMs: 1_000 * times };
      const { nodes } = await crew.run({ mode: "single", agent: "slow", task: "go", resourceLimits });
      expect(nodes["slow"]).toMatchObject({ fault: { code: "TIMEOUT" } });
      expect(server.cancelled).toHaveLength(1);
    });
  });
});

/** A home folder that contains only the journal of a run, as after a crash. */
function afterCrash(folder: string, id: string): string {
  const home = tempFolder();
  mkdirSync(join(home, "runs", id), { recursive: true });
  copyFileSync(join(folder, "journal.jsonl"), join(home, "runs", id, "journal.jsonl"));
  return home;
}

const oldCard = (url: string): object => ({
  protocolVersion: "0.3.0",
  name: "old",
  description: "old",
  version: "1",
  url,
  preferredTransport: "JSONRPC",
  capabilities: {},
  skills: [],
  defaultInputModes: ["text"],
  defaultOutputModes: ["text"],
});
