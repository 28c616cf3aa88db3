import { expect, test } from "vitest";
import { crewOf, type EraMode, eras, session } from "./session.ts";

const task = { mode: "single", agent: "scout", task: "x" } as const;
const slow = { text: "late", delayMs: 600_000 };
/** The description of the client in each request of the newest protocol. */
const envelope = (era: EraMode): object =>
  era === "legacy"
    ? {}
    : {
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
          "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } },
        },
      };

test("a run of the server that is stopped and resumed by another process is shown with its new state", async () => {
  const crew = crewOf({ scout: [slow, "Found."] });
  const { client } = await session(crew, "auto");
  const started = await client.callTool({ name: "run", arguments: { agent: "scout", task: "x", wait: false } });
  const { run } = started.structuredContent as { run: string };
  const command = { do: "pause", reason: "stopped by the user" } as const;
  const never = new AbortController().signal;
  await crew.kept.tell(run, command, { waitMs: 60_000, signal: never });
  await crew.kept.ended(run, never);
  const status = async (): Promise<unknown> =>
    (await client.callTool({ name: "status", arguments: { run } })).structuredContent;
  expect(await status()).toMatchObject({ runs: [{ status: "paused", tasks: [{ status: "paused" }] }] });
  while ((await crew.kept.owner(run)) !== undefined) await new Promise(setImmediate);
  await crew.resume(run);
  expect(await status()).toMatchObject({ runs: [{ status: "ok" }] });
  await client.close();
});

test("`answer` sends text to an agent of another process that asked for text, and cannot grant a permission", async () => {
  const asks = { calls: [{ name: "ask", input: { question: "Which port?" } }] };
  const crew = crewOf({ scout: [asks, "Port 80."] });
  const run = crew.run(task, { asksCalls: true });
  const questions = async (): Promise<number> => (await crew.kept.questions()).length;
  while ((await questions()) === 0) await new Promise(setImmediate);
  const { client } = await session(crew, "auto", { allRuns: true });
  const answered = await client.callTool({ name: "answer", arguments: { run: run.id, approve: true, text: "80" } });
  expect(JSON.stringify(answered.content)).not.toContain("permission");
  expect(await run).toMatchObject({ status: "ok", output: "Port 80." });
  await client.close();
});

test("`status` shows that a question of a stopped run is answered, and that the answer waits for `resume`", async () => {
  const asks = { calls: [{ name: "ask", input: { question: "Which port?" } }] };
  const crew = crewOf({ scout: [asks, "Port 80."] });
  const run = crew.run(task, { asksCalls: true });
  while ((await crew.kept.questions()).length === 0) await new Promise(setImmediate);
  run.pause();
  await run;
  const { client } = await session(crew, "auto", { allRuns: true });
  const status = (): Promise<unknown> => client.callTool({ name: "status", arguments: { run: run.id } });
  expect(JSON.stringify(await status())).not.toContain("answered");
  const saved = await client.callTool({ name: "answer", arguments: { run: run.id, text: "80" } });
  expect(saved).toMatchObject({ structuredContent: { done: true } });
  expect(saved.isError ?? false).toBe(false);
  expect(await status()).toMatchObject({
    content: [{ text: expect.stringContaining("Which port? (It is answered; the answer is kept") }],
    structuredContent: { runs: [{ questions: [{ path: "scout", answered: true }] }] },
  });
  await client.close();
});

test("MCP tasks exist for runs of other processes, where the owner shares them: state, result and cancelling", async () => {
  const crew = crewOf({ scout: ["Found."], slow: [slow] });
  const done = crew.run(task);
  await done;
  const busy = crew.run({ ...task, agent: "slow" });
  for await (const { type } of busy) if (type === "turn.started") break;
  for (const era of eras) {
    const { client, raw } = await session(crew, era, { allRuns: true });
    const get = (taskId: string): Promise<unknown> =>
      raw({ method: "tasks/get", params: { taskId, ...envelope(era) } });
    expect(await get(done.id)).toMatchObject({ result: { taskId: done.id, status: "completed" } });
    expect(await get(busy.id)).toMatchObject({ result: { taskId: busy.id, status: "working" } });
    expect(await get(busy.id.slice(0, 9))).toMatchObject({ error: { code: -32602 } });
    expect(await get("run_000000000000")).toMatchObject({ error: { code: -32602 } });
    await client.close();
    const closed = await session(crew, era);
    const hidden = { method: "tasks/get", params: { taskId: done.id, ...envelope(era) } };
    expect(await closed.raw(hidden)).toMatchObject({ error: { code: -32602 } });
    await closed.client.close();
  }
  const { client, raw } = await session(crew, "legacy", { allRuns: true });
  expect(await raw({ method: "tasks/list", params: {} })).toMatchObject({
    result: { tasks: expect.arrayContaining([expect.objectContaining({ taskId: busy.id, status: "working" })]) },
  });
  expect(await raw({ method: "tasks/result", params: { taskId: done.id } })).toMatchObject({
    result: { structuredContent: { output: "Found." } },
  });
  expect(await raw({ method: "tasks/cancel", params: { taskId: busy.id } })).toMatchObject({
    result: { taskId: busy.id, status: "cancelled" },
  });
  expect(await busy).toMatchObject({ status: "cancelled" });
  await client.close();
});

test.each(["tool", "task"])("a run that no process works on is cancelled at once, by the %s cancel", async (how) => {
  const crew = crewOf({ scout: [slow, "Found."] });
  const run = crew.run(task);
  for await (const { type } of run) if (type === "turn.started") run.pause("later");
  const { client, raw } = await session(crew, "legacy", { allRuns: true });
  if (how === "tool") await client.callTool({ name: "cancel", arguments: { run: run.id } });
  else await raw({ method: "tasks/cancel", params: { taskId: run.id } });
  expect((await crew.kept.look(run.id)).life).toBe("cancelled");
  // An ended run stays as it is.
  const { structuredContent } = await client.callTool({ name: "cancel", arguments: { run: run.id, reason: "again" } });
  expect(structuredContent).toMatchObject({ status: "cancelled" });
  expect(JSON.stringify(structuredContent)).not.toContain("again");
  await client.close();
});

test("the MCP task of a run that was stopped and resumed by another process has the result of that process", async () => {
  const crew = crewOf({ scout: [slow, "Found."] });
  const { client, raw } = await session(crew, "legacy");
  const params = { name: "run", arguments: { agent: "scout", task: "x" }, task: {} };
  const { result } = (await raw({ method: "tools/call", params })) as { result: { task: { taskId: string } } };
  const { taskId } = result.task;
  const never = new AbortController().signal;
  await crew.kept.tell(taskId, { do: "pause", reason: "stopped" }, { waitMs: 60_000, signal: never });
  await crew.kept.ended(taskId, never);
  while ((await crew.kept.owner(taskId)) !== undefined) await new Promise(setImmediate);
  expect(await raw({ method: "tasks/get", params: { taskId } })).toMatchObject({ result: { status: "failed" } });
  await crew.resume(taskId);
  expect(await raw({ method: "tasks/get", params: { taskId } })).toMatchObject({ result: { status: "completed" } });
  await client.close();
});

test("the answers of an MCP task reach a run of another process", async () => {
  const asks = { calls: [{ name: "ask", input: { question: "Which port?" } }] };
  const crew = crewOf({ scout: [asks, "Port 80."] });
  const run = crew.run(task, { asksCalls: true });
  while ((await crew.kept.questions()).length === 0) await new Promise(setImmediate);
  const { client, raw } = await session(crew, "auto", { allRuns: true });
  const told = (await raw({ method: "tasks/get", params: { taskId: run.id, ...envelope("auto") } })) as {
    result: { inputRequests: Record<string, unknown> };
  };
  const [key] = Object.keys(told.result.inputRequests);
  const inputResponses = { [key!]: { action: "accept", content: { text: "80" } } };
  await raw({ method: "tasks/update", params: { taskId: run.id, inputResponses, ...envelope("auto") } });
  expect(await run).toMatchObject({ status: "ok", output: "Port 80." });
  await client.close();
});
