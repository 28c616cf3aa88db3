import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { TaskState } from "@a2a-js/sdk";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { serveA2a } from "../../src/a2a/server.ts";
import { Tasks } from "../../src/a2a/tasks.ts";
import { type Crew, defineAgent } from "../../src/index.ts";
import { never } from "../../src/models/scripted/scripted.ts";
import { deferred } from "../../src/runtime/async/deferred.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { webServer } from "../support/web-server.ts";
import { message, ourServer, sdkClient, textOf, workerCrew } from "./lab.ts";

test("the official client gets the result under the id of the run", async () => {
  const crew = workerCrew(["the answer is 42"]);
  const server = await ourServer(crew);
  const client = await sdkClient(server.card(), server.token);

  const task = await client.sendMessage(message("6 x 7?"));
  if (!("status" in task)) throw new Error("no task");

  expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  expect(textOf(task)).toBe("the answer is 42");
  expect((await crew.record(task.id)).outcome).toMatchObject({ status: "ok", output: "the answer is 42" });
});

test("a known secret in the description of an agent is not in its card", async () => {
  const secret = "kx7Qm2Zr9TulipField4481";
  const coded = Buffer.from(secret).toString("base64");
  const description = `works with ${secret} and ${coded}`;
  const server = await ourServer(
    workerCrew(["x"], { agents: [defineAgent({ name: "worker", description, instructions: "" })], secrets: [secret] }),
  );
  for (const version of ["0.3", "1.0"]) {
    const headers = { authorization: `Bearer ${server.token}`, "a2a-version": version };
    const card = await (await fetch(server.card(), { headers })).text();
    expect(card).toContain("works with [redacted] and [redacted]");
    expect(card).not.toContain(secret);
  }
});

test("the official client reads a stream: the task, its text as it comes, its result, its end", async () => {
  const server = await ourServer(workerCrew(["one two three"]));
  const client = await sdkClient(server.card(), server.token);
  const seen: string[] = [];

  for await (const { payload } of client.sendMessageStream(message("count")))
    seen.push(payload?.$case === "statusUpdate" ? TaskState[payload.value.status!.state] : (payload?.$case ?? ""));

  expect(seen[0]).toBe("task");
  expect(seen).toContain("artifactUpdate");
  expect(seen.at(-1)).toBe("TASK_STATE_COMPLETED");
});

test("a question of the agent sets the task to input-required, and the answer continues the same task", async () => {
  const ask = { calls: [{ name: "ask", input: { question: "Which one?" } }] };
  const crew = workerCrew([
    ask,
    ({ messages }) => `you said ${JSON.stringify(messages.at(-1)).includes("Answer: blue") ? "blue" : "?"}`,
  ]);
  const server = await ourServer(crew);
  const client = await sdkClient(server.card(), server.token);

  const asked = await client.sendMessage(message("paint it"));
  if (!("status" in asked)) throw new Error("no task");
  expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
  expect(await crew.kept.questions()).toMatchObject([{ run: asked.id, question: "Which one?" }]);

  const done = await client.sendMessage(message("blue", { taskId: asked.id, contextId: asked.contextId }));
  if (!("status" in done)) throw new Error("no task");
  expect(done).toMatchObject({ id: asked.id, status: { state: TaskState.TASK_STATE_COMPLETED } });
  expect(textOf(done)).toBe("you said blue");
});

test("a task whose provider refuses the key is parked, and its status says why", async () => {
  const error = {
    ...({ code: "MODEL_AUTH", message: "The key was refused.", hint: "Correct it.", retryable: false } as const),
    retryAfterMs: 600_000,
  };
  const server = await ourServer(workerCrew([{ error }]));
  const client = await sdkClient(server.card(), server.token);
  const said: string[] = [];
  for await (const { payload } of client.sendMessageStream(message("work"))) {
    const status = payload?.$case === "statusUpdate" ? payload.value.status : undefined;
    if (status?.message) said.push(JSON.stringify(status.message));
    if (said.some((text) => text.includes("parked"))) break;
  }
  expect(said.at(-1)).toContain("parked: The key was refused. until 20");
});

test("SRV-11: a caller cannot grant a permission: the task waits for the owner", async () => {
  const write = { calls: [{ name: "write_file", input: { path: "a.txt", content: "x" } }] };
  const crew = workerCrew([write, "done"]);
  const server = await ourServer(crew);
  const client = await sdkClient(server.card(), server.token);

  const task = await client.sendMessage(message("write"));
  if (!("status" in task)) throw new Error("no task");
  expect(task.status?.state).toBe(TaskState.TASK_STATE_AUTH_REQUIRED);
  await expect(client.sendMessage(message("yes", { taskId: task.id }))).rejects.toThrow(/cannot accept messages/);

  const [question] = await crew.kept.questions();
  const { path, call, question: text } = question!;
  const signal = new AbortController().signal;
  await crew.kept.tell(
    task.id,
    { do: "answer", path, question: text, answer: { approve: true }, ...(call && { call }) },
    { waitMs: 60_000, signal },
  );
  await vi.waitFor(async () => {
    const { status } = await client.getTask({ tenant: "", id: task.id });
    expect(status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  }, 60_000);
  await expect(client.resubscribeTask({ tenant: "", id: task.id }).next()).rejects.toThrow(/No process is running/);
});

test("cancelling a task cancels its run", async () => {
  const crew = workerCrew([], { models: { m: never } });
  const server = await ourServer(crew);
  const client = await sdkClient(server.card(), server.token);
  const stream = client.sendMessageStream(message("wait"));
  const first = (await stream.next()).value;
  if (first?.payload?.$case !== "task") throw new Error("no task");
  const { id } = first.payload.value;

  const cancelled = await client.cancelTask({ tenant: "", id, metadata: undefined });

  expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  expect((await crew.record(id)).outcome).toMatchObject({ status: "cancelled", reason: "cancelled by the caller" });
  await expect(client.cancelTask({ tenant: "", id, metadata: undefined })).rejects.toThrow(/already ended/);
});

test("a client that reconnects gets the remaining events of a task", async () => {
  const go = deferred<void>();
  const crew = workerCrew([async () => (await go.promise, "the end")]);
  const server = await ourServer(crew);
  const client = await sdkClient(server.card(), server.token);
  const stream = client.sendMessageStream(message("wait"));
  const first = (await stream.next()).value;
  if (first?.payload?.$case !== "task") throw new Error("no task");
  await stream.return(undefined);

  const again = client.resubscribeTask({ tenant: "", id: first.payload.value.id });
  expect((await again.next()).value?.payload?.$case).toBe("task");
  go.resolve();
  const rest: string[] = [];
  for await (const { payload } of again)
    rest.push(payload?.$case === "statusUpdate" ? TaskState[payload.value.status!.state] : (payload?.$case ?? ""));

  expect(rest).toContain("artifactUpdate");
  expect(rest.at(-1)).toBe("TASK_STATE_COMPLETED");
});

test("a task that is known to have ended is no longer followed, even while its run.ended event is still being handled", async () => {
  const home = tempFolder();
  const crew = workerCrew(["the end"], { home });
  const beside = workerCrew([], { home });
  const who = { caller: "ann", agent: "worker" };
  const options = { agents: new Set(["worker"]), onError: () => {} };
  const other = new Tasks(beside, options);
  const follow = (tasks: Tasks, id: string): Promise<string> =>
    tasks.follow(who, id).then(
      () => "followed",
      (error: Error) => error.message,
    );
  const asked: Promise<string>[] = [];
  const tasks = new Tasks(crew, {
    ...options,
    heard: ({ run }, { type }) => {
      if (type === "run.ended") asked.push(follow(tasks, run.id), follow(other, run.id));
    },
  });

  const { run, over } = await tasks.send(who, {
    kind: "message",
    messageId: "1",
    role: "user",
    parts: [{ kind: "text", text: "go" }],
  });
  await over;

  const refused = "No process is running the task, so the task sends no events.";
  expect(await Promise.all(asked)).toEqual([refused, refused]);
  expect(await follow(tasks, run.id)).toBe(refused);
});

test("a message to a running task is read before its next turn", async () => {
  const go = deferred<void>();
  const crew = workerCrew([
    async () => (await go.promise, { calls: [{ name: "current_time", input: {} }] }),
    ({ messages }) => (JSON.stringify(messages).includes("and hurry") ? "hurried" : "slow"),
  ]);
  const server = await ourServer(crew);
  const client = await sdkClient(server.card(), server.token);
  const begun = await client.sendMessage({ ...message("go"), configuration: now });
  if (!("status" in begun)) throw new Error("no task");
  expect([TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING]).toContain(begun.status?.state);

  const said = client.sendMessage(message("and hurry", { taskId: begun.id }));
  await vi.waitFor(
    async () => expect(JSON.stringify(await crew.record(begun.id).then(({ seq }) => seq))).not.toBe("0"),
    60_000,
  );
  await vi.waitFor(
    async () => expect((await eventsOf(crew, begun.id)).some(({ type }) => type === "message.sent")).toBe(true),
    60_000,
  );
  go.resolve();
  const done = await said;

  expect("status" in done && textOf(done)).toBe("hurried");
});

test("the next message of a conversation continues its history", async () => {
  const crew = workerCrew([
    "my name is Bo",
    ({ messages }) => (JSON.stringify(messages).includes("my name is Bo") ? "you are Bo" : "who?"),
  ]);
  const server = await ourServer(crew);
  const client = await sdkClient(server.card(), server.token);

  const one = await client.sendMessage(message("who are you?"));
  const two = await client.sendMessage(message("and who was that?", { contextId: one.contextId }));

  expect(two).toMatchObject({ contextId: one.contextId });
  const { history } = await client.getTask({ tenant: "", id: "status" in one ? one.id : "" });
  expect(history).toHaveLength(1);
  expect(JSON.stringify(history)).toContain("who are you?");
  expect("status" in two && textOf(two)).toBe("you are Bo");
  const { tasks, totalSize } = await client.listTasks({
    tenant: "",
    contextId: one.contextId,
    status: TaskState.TASK_STATE_UNSPECIFIED,
    pageToken: "",
    statusTimestampAfter: undefined,
    pageSize: 1,
    includeArtifacts: true,
  });
  expect({ totalSize, shown: tasks.map(textOf) }).toEqual({ totalSize: 2, shown: ["you are Bo"] });
});

test("a task survives a restart of the server: ended tasks keep their result, and interrupted tasks are resumed", async () => {
  const home = tempFolder();
  const tokens = { me: "0123456789abcdef0123456789abcdef" };
  const first = workerCrew(["done early"], { home });
  const before = await serveA2a(first, { agents: ["worker"], tokens });
  const early = await (await sdkClient(`${before.url}/worker/.well-known/agent-card.json`, tokens.me)).sendMessage(
    message("a"),
  );
  await before.close();

  const stuck = await serveA2a(workerCrew([], { home, models: { m: never } }), { agents: ["worker"], tokens });
  const client = await sdkClient(`${stuck.url}/worker/.well-known/agent-card.json`, tokens.me);
  const late = await client.sendMessage({ ...message("b"), configuration: now });
  if (!("status" in early) || !("status" in late)) throw new Error("no task");
  await stuck.close();

  const after = await ourServer(workerCrew(["done late"], { home }), { tokens });
  const again = await sdkClient(after.card(), tokens.me);
  expect(after.takenUp).toBe(1);
  expect(textOf(await again.getTask({ tenant: "", id: early.id }))).toBe("done early");
  await vi.waitFor(
    async () => expect(textOf(await again.getTask({ tenant: "", id: late.id }))).toBe("done late"),
    60_000,
  );
});

test("a task that the owner paused is reported as paused, and a task that the owner resumed ends for its caller", async () => {
  const home = tempFolder();
  const crew = workerCrew([], { home, models: { m: never } });
  const server = await ourServer(crew);
  const client = await sdkClient(server.card(), server.token);
  const task = await client.sendMessage({ ...message("a"), configuration: now });
  if (!("status" in task)) throw new Error("no task");
  const { signal } = new AbortController();
  await crew.kept.tell(task.id, { do: "pause", reason: "stopped by the user" }, { waitMs: 60_000, signal });
  const look = async () => (await client.getTask({ tenant: "", id: task.id })).status;
  await vi.waitFor(async () => expect(JSON.stringify(await look())).toContain("The task is paused"), 60_000);
  await vi.waitFor(async () => expect(await crew.kept.owner(task.id)).toBeUndefined(), 60_000);
  await workerCrew(["resumed"], { home }).resume(task.id);
  expect(textOf(await client.getTask({ tenant: "", id: task.id }))).toBe("resumed");
});

describe("push notifications", () => {
  test("report a question and the end, with the requested token, and nothing is sent to a forbidden address", async () => {
    const hook = await webServer({ "/hook": "ok" });
    const inner = await webServer({ "*": "secret" });
    const ask = { calls: [{ name: "ask", input: { question: "Which one?" } }] };
    const server = await ourServer(workerCrew([ask, "done"]), { network: { allowHosts: [hook.host] } });
    const client = await sdkClient(server.card(), server.token);
    const config = {
      tenant: "",
      id: "c1",
      taskId: "",
      url: hook.url("/hook"),
      token: "tok",
      authentication: { scheme: "Bearer", credentials: "cred" },
    };

    const asked = await client.sendMessage({
      ...message("go"),
      configuration: { ...waiting, taskPushNotificationConfig: config },
    });
    if (!("status" in asked)) throw new Error("no task");
    expect(
      await client.listTaskPushNotificationConfig({ tenant: "", taskId: asked.id, pageSize: 0, pageToken: "" }),
    ).toMatchObject({ configs: [{ id: "c1", url: hook.url("/hook") }] });
    for (const url of [inner.url("/x"), "http://169.254.169.254/latest", "file:///etc/passwd", "http://localhost:22/"])
      await expect(
        client.createTaskPushNotificationConfig({ ...config, id: "bad", taskId: asked.id, url }),
      ).rejects.toThrow(/push address/);
    await client.sendMessage(message("that one", { taskId: asked.id }));

    await vi.waitFor(() => expect(hook.requests).toHaveLength(2), 60_000);
    expect(hook.requests[0]).toMatchObject({
      method: "POST",
      headers: { authorization: "Bearer cred", "x-a2a-notification-token": "tok" },
    });
    expect(
      hook.requests.map(({ body }) => (JSON.parse(body) as { task: { status: { state: string } } }).task.status.state),
    ).toEqual(["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_COMPLETED"]);
    await client.deleteTaskPushNotificationConfig({ tenant: "", taskId: asked.id, id: "c1" });
    expect(
      (await client.listTaskPushNotificationConfig({ tenant: "", taskId: asked.id, pageSize: 0, pageToken: "" }))
        .configs,
    ).toEqual([]);
    expect(inner.connections()).toBe(0);
  });

  test("report a question that was asked before the push address of the first message was stored", async () => {
    const hook = await webServer({ "/hook": "ok" });
    const ask = { calls: [{ name: "ask", input: { question: "Which one?" } }] };
    const crew = workerCrew([ask, "done"]);
    // The first read of the task stores the address, and does not return before the question is open.
    let looks = 0;
    const look = async (id: string): ReturnType<typeof crew.kept.look> => {
      looks += 1;
      if (looks === 1) {
        await vi.waitFor(async () => expect(await crew.kept.questions()).toHaveLength(1), 60_000);
        for (let turns = 0; turns < 100; turns += 1) await new Promise((resolve) => setImmediate(resolve));
      }
      return crew.kept.look(id);
    };
    const slow = { ...crew, kept: { ...crew.kept, look } };
    const server = await ourServer(slow, { network: { allowHosts: [hook.host] } });
    const client = await sdkClient(server.card(), server.token);
    const taskPushNotificationConfig = {
      tenant: "",
      id: "c1",
      taskId: "",
      url: hook.url("/hook"),
      token: "",
      authentication: undefined,
    };

    await client.sendMessage({ ...message("go"), configuration: { ...waiting, taskPushNotificationConfig } });

    await vi.waitFor(() => expect(hook.requests).toHaveLength(1), 60_000);
    expect(hook.requests[0]!.body).toContain("TASK_STATE_INPUT_REQUIRED");
  });
});

test("the old version of the protocol is supported, too", async () => {
  const server = await ourServer(workerCrew(["old but good"]));
  const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };
  const card = (await (await fetch(server.card(), { headers })).json()) as { protocolVersion: string; url: string };
  const text = { kind: "message", messageId: "m", role: "user", parts: [{ kind: "text", text: "hello" }] };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "message/send", params: { message: text } });
  const answer = (await (await fetch(card.url, { method: "POST", headers, body })).json()) as { result: object };

  expect(card.protocolVersion).toBe("0.3.0");
  expect(answer.result).toMatchObject({
    kind: "task",
    status: { state: "completed" },
    artifacts: [{ parts: [{ kind: "text", text: "old but good" }] }],
  });
});

describe("access control", () => {
  const post = (url: string, headers: Record<string, string>, body: string): Promise<Response> =>
    fetch(url, { method: "POST", headers, body });
  const hello = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: "run_aaaaaaaaaaaa" } });

  test("SRV-02, SRV-03, SRV-07: every path needs the token, a known host name and JSON of limited size", async () => {
    const server = await ourServer(workerCrew([]));
    const good = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };
    const statusOf = async (path: string, headers: Record<string, string>, body = hello): Promise<number> =>
      (await post(`${server.url}${path}`, headers, body)).status;

    expect(await statusOf("/worker", good)).toBe(200);
    expect(await statusOf("/worker", { ...good, authorization: "Bearer wrong" })).toBe(401);
    expect(await statusOf("/worker", { "content-type": "application/json" })).toBe(401);
    expect((await fetch(server.card())).status).toBe(401);
    expect(await statusOf("/nobody", good)).toBe(404);
    expect(await statusOf("/../../etc/passwd", good)).toBe(404);
    expect(await statusOf("/worker", { ...good, origin: "https://evil.example" })).toBe(403);
    expect(await statusOf("/worker", { ...good, "content-type": "text/plain" })).toBe(415);
    expect(await statusOf("/worker", good, `"${"x".repeat(1_100_000)}"`)).toBe(413);
    expect(await foreignHost(server.url, good)).toBe(403);
  });

  test.each<[string, unknown]>([
    ["a request that is null", null],
    ["an id that is a number", { id: 5 }],
    ["no id", {}],
    ["a context id that is a list", { message: { messageId: "m", role: "user", parts: [], contextId: ["a"] } }],
    ["text that is an object", { message: { messageId: "m", role: "user", parts: [{ kind: "text", text: {} }] } }],
    ["no file in a part", { message: { messageId: "m", role: "user", parts: [{ kind: "file", file: null }] } }],
    [
      "a file that is a number",
      {
        message: {
          messageId: "m",
          role: "user",
          parts: [{ kind: "file", file: { bytes: 5, mimeType: "text/plain" } }],
        },
      },
    ],
  ])("SRV-12: %s is answered with the mistake, not with an internal error", async (_, params) => {
    const server = await ourServer(workerCrew([]));
    const good = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };
    const method = JSON.stringify(params)?.includes("message") ? "message/send" : "tasks/get";
    const body = params === null ? "null" : JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const answer = await post(`${server.url}/worker`, good, body);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      error: {
        code: expect.toBeOneOf([-32001, -32602]),
        message: expect.stringMatching(/^The request (?:is not valid: |names no task)/),
      },
    });
  });

  test("the tasks of one caller do not use up the task limit of another caller", async () => {
    const crew = workerCrew([
      { text: "never", delayMs: 600_000 },
      { text: "never", delayMs: 600_000 },
    ]);
    const tasks = new Tasks(crew, { agents: new Set(["worker"]), onError: () => {}, mostActive: 1 });
    onTestFinished(() => tasks.close());
    const send = (caller: string) =>
      tasks.send(
        { caller, agent: "worker" },
        { kind: "message", messageId: "m", role: "user", parts: [{ kind: "text", text: "go" }] },
      );
    await send("ann");
    await expect(send("ann")).rejects.toThrow("1 of your tasks are already running");
    expect((await send("bob")).isSettled()).toBe(false);
  });

  test("a card can be public, and contains no secret and no local path", async () => {
    const crew = workerCrew([]);
    const server = await ourServer(crew, { publicCards: true });
    const card = await (await fetch(server.card())).text();
    expect(card).not.toContain(server.token);
    expect(card).not.toContain(crew.cwd);
    expect(JSON.parse(card)).toMatchObject({ name: "worker", description: "works", url: `${server.url}/worker` });
    expect((await post(`${server.url}/worker`, { "content-type": "application/json" }, hello)).status).toBe(401);
  });

  test("SRV-10: a caller does not see tasks of other callers, of other agents, or local runs", async () => {
    const tokens = { ann: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", ben: "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb" };
    const agents = ["worker", "other"].map((name) => defineAgent({ name, description: name, instructions: "Work." }));
    const crew = workerCrew(["one", "two", "three"], { agents });
    const server = await ourServer(crew, { agents: ["worker", "other"], tokens });
    const [ann, ben] = await Promise.all([sdkClient(server.card(), tokens.ann), sdkClient(server.card(), tokens.ben)]);
    const anns = await ann.sendMessage(message("mine"));
    if (!("status" in anns)) throw new Error("no task");
    const local = await crew.run({ mode: "single", agent: "worker", task: "private" });

    const other = await sdkClient(server.card("other"), tokens.ann);
    for (const [client, id] of [
      [ben, anns.id],
      [ann, local.id],
      [other, anns.id],
      [ann, "run_zzzzzzzzzzzz"],
      [ann, "../../etc"],
    ] as const) {
      await expect(client.getTask({ tenant: "", id })).rejects.toThrow(/The task .* does not exist/);
      await expect(client.cancelTask({ tenant: "", id, metadata: undefined })).rejects.toThrow(
        /The task .* does not exist/,
      );
    }
    const all = {
      tenant: "",
      contextId: "",
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageToken: "",
      statusTimestampAfter: undefined,
    };
    expect((await ben.listTasks(all)).tasks).toEqual([]);
    expect((await ann.listTasks(all)).tasks.map(({ id }) => id)).toEqual([anns.id]);
    const context = await ben.sendMessage(message("same context?", { contextId: anns.contextId }));
    expect("status" in context && (await crew.record(context.id)).continues).toBeUndefined();
  });

  test("SRV-12: internal errors are not shown to callers", async () => {
    const crew = workerCrew([], { model: "nothing/there" });
    const server = await ourServer(crew);
    const client = await sdkClient(server.card(), server.token);
    const words = await client.sendMessage(message("go")).then(
      () => "",
      (thrown: Error) => thrown.message,
    );
    expect(words).toMatch(/could not be started/);
    expect(words).not.toContain(crew.cwd);
  });

  test("only named agents are served, and an unknown name is an error", async () => {
    const crew = workerCrew([]);
    await expect(serveA2a(crew, { agents: [] })).rejects.toMatchObject({ code: "BAD_INPUT" });
    await expect(serveA2a(crew, { agents: ["wroker"] })).rejects.toMatchObject({
      code: "UNKNOWN_AGENT",
      hint: 'Did you mean "worker"?',
    });
    await expect(serveA2a(crew, { agents: ["worker"], tokens: { me: "short" } })).rejects.toMatchObject({
      code: "BAD_INPUT",
    });
  });
});

const configuration = { acceptedOutputModes: [], taskPushNotificationConfig: undefined };
const now = { ...configuration, returnImmediately: true };
const waiting = { ...configuration, returnImmediately: false };

const eventsOf = async (crew: Crew, id: string): Promise<{ type: string }[]> =>
  readFileSync(join((await crew.kept.look(id)).place, "journal.jsonl"), "utf8")
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [{ type: /"type":"([^"]+)"/.exec(line)?.[1] ?? "" }]));

/** A request as from a page in a browser whose host name was made to point here; `fetch` cannot send a false host. */
function foreignHost(url: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(
      `${url}/worker`,
      { method: "POST", headers: { ...headers, host: "evil.example" } },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    asked.on("error", reject).end("{}");
  });
}
