import {
  createTaskSessionFromClient,
  resultFromTaskOutcome,
  toolDeclarationFromMcpTool,
} from "@modelcontextprotocol/ext-tasks/client";
import { expect, test } from "vitest";
import { never, type Script } from "../../src/models/scripted/scripted.ts";
import { crewOf, type EraMode, eras, type Session, session } from "./session.ts";

const call = (name: string, input: object): Script => ({ calls: [{ name, input }] });
const required = { task: { preference: "require" } } as const;
const capabilities = { elicitation: { form: {} }, extensions: { "io.modelcontextprotocol/tasks": {} } };

/**
 * The official library for tasks, on top of the official client. It writes the messages of the newest protocol itself.
 */
async function tasksOf({ client, raw }: Session, era: EraMode) {
  const { tools } = await client.listTools();
  const framing = {
    rawDispatch: (request: unknown) => raw(request as object) as never,
    v2RequestFraming: {
      protocolVersion: "2026-07-28",
      clientInfo: { name: "test", version: "1" },
      clientCapabilities: capabilities,
    },
  };
  const asked: unknown[] = [];
  const session = createTaskSessionFromClient(client, {
    endpointId: "test",
    tools: {
      currentTool: (name: string) => toolDeclarationFromMcpTool(tools.find((tool) => tool.name === name)!),
    },
    onInputRequest: (request: unknown) => {
      asked.push(request);
      return Promise.resolve({ action: "accept", content: { approve: true, text: "red" } });
    },
    ...(era === "auto" && framing),
  } as never);
  return { session, asked };
}

test.for(eras)("a long call becomes a task that is polled for its result, with the %s protocol", async (era) => {
  const connected = await session(crewOf({ scout: [{ text: "found", delayMs: 20 }] }), era, {
    client: { capabilities },
  });
  const tasks = await tasksOf(connected, era);
  const execution = await tasks.session.callTool("run", { agent: "scout", task: "x" }, required);
  expect(execution.kind).toBe("task");
  const { outcome } = await execution.settle();
  expect(resultFromTaskOutcome(outcome)).toMatchObject({
    content: [{ type: "text", text: "found" }],
    structuredContent: { run: execution.handle!.taskId, status: "ok" },
  });
  expect(connected.errors).toEqual([]);
  await tasks.session.close();
  await connected.client.close();
});

test.for(eras)("a task that asks a question is answered while it runs, with the %s protocol", async (era) => {
  const crew = crewOf({ asker: [call("ask", { question: "Which one?" }), "the red one"] });
  const connected = await session(crew, era, { client: { capabilities } });
  const tasks = await tasksOf(connected, era);
  const execution = await tasks.session.callTool("run", { agent: "asker", task: "x" }, required);
  const { outcome } = await execution.settle();
  expect(resultFromTaskOutcome(outcome)).toMatchObject({ structuredContent: { output: "the red one" } });
  expect(JSON.stringify(tasks.asked)).toContain("Which one?");
  await tasks.session.close();
  await connected.client.close();
});

test.for(eras)("cancelling a task cancels its run, with the %s protocol", async (era) => {
  const crew = crewOf(
    {},
    { agents: [{ name: "stuck", description: "", instructions: "", model: "stuck" }], models: { stuck: never } },
  );
  const connected = await session(crew, era, { client: { capabilities } });
  const tasks = await tasksOf(connected, era);
  const execution = await tasks.session.callTool("run", { agent: "stuck", task: "x" }, required);
  await execution.cancel();
  const status = async (): Promise<unknown> =>
    (await connected.client.callTool({ name: "status", arguments: {} })).structuredContent;
  await expect.poll(status, { timeout: 60_000 }).toMatchObject({ runs: [{ status: "cancelled" }] });
  await tasks.session.close();
  await connected.client.close();
});

test("tasks of the earlier protocol are listed, and those of other clients are hidden", async () => {
  const crew = crewOf({ a: ["one"] });
  const { client, raw } = await session(crew, "legacy");
  const params = { name: "run", arguments: { agent: "a", task: "x" }, task: { ttl: 60_000 } };
  const { result } = (await raw({ method: "tools/call", params })) as { result: { task: { taskId: string } } };
  expect(result.task).toMatchObject({ taskId: expect.stringMatching(/^run_/), ttl: null });
  const { taskId } = result.task;
  expect(await raw({ method: "tasks/result", params: { taskId } })).toMatchObject({
    result: { structuredContent: { output: "one" }, _meta: { "io.modelcontextprotocol/related-task": { taskId } } },
  });
  expect(await raw({ method: "tasks/list", params: {} })).toMatchObject({
    result: { tasks: [{ taskId, status: "completed" }] },
  });
  for (const method of ["tasks/get", "tasks/result", "tasks/cancel"])
    expect(await raw({ method, params: { taskId: taskId.slice(0, 8) } })).toMatchObject({ error: { code: -32602 } });
  await client.close();
});
