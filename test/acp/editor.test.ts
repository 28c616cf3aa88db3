import { existsSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable, Writable } from "node:stream";
import {
  client,
  type ClientContext,
  ndJsonStream,
  PROTOCOL_VERSION,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { afterEach, expect, test } from "vitest";
import { serveAcp } from "../../src/acp/server.ts";
import { createConversation } from "../../src/crew/conversation.ts";
import { createCrew, defineAgent } from "../../src/index.ts";
import { type Script, scripted } from "../../src/models/scripted/scripted.ts";
import { deferred } from "../../src/runtime/async/deferred.ts";
import { tempFolder } from "../support/temp-folder.ts";

type Model = ReturnType<typeof scripted>;
type Options = Readonly<{ home?: string; answer?: string; model?: Model; seen?(update: SessionUpdate): void }>;

const hangUps: (() => void)[] = [];
afterEach(() => {
  for (const hangUp of hangUps.splice(0)) hangUp();
});

/** The official ACP client, connected to our agent by a pair of streams, as between two processes. */
async function editor(turns: readonly Script[], { home = tempFolder(), answer = "once", model, seen }: Options = {}) {
  const cwd = tempFolder();
  const [toAgent, toEditor] = [new PassThrough(), new PassThrough()];
  const lead = defineAgent({ name: "lead", description: "leads", instructions: "Work.", model: "m" });
  const errors: unknown[] = [];
  const served = serveAcp({
    input: toAgent,
    output: toEditor,
    mode: "default",
    signal: new AbortController().signal,
    onError: (error) => errors.push(error),
    open: async ({ cwd: folder, mode, servers, id }) => {
      const crew = createCrew({
        cwd: folder,
        home,
        env: { PATH: "/usr/bin:/bin" },
        discover: false,
        agents: [lead],
        models: { m: (shared ??= model ?? scripted(...turns)) },
        permissions: { mode },
        mcpServers: servers,
      });
      const opening = async (task: string) => ({ mode: "single" as const, agent: "lead", task });
      return { crew, talk: createConversation({ crew, id, options: {}, opening }) };
    },
  });
  let shared: Model | undefined;
  const updates: SessionUpdate[] = [];
  const asked: string[] = [];
  const connection = client({ name: "test" })
    .onRequest("session/request_permission", ({ params: { toolCall, options } }) => {
      asked.push(`${toolCall.kind}: ${options.map(({ kind }) => kind).join(" ")}`);
      return { outcome: { outcome: "selected", optionId: answer } };
    })
    .onNotification("session/update", ({ params: { update } }) => {
      updates.push(update);
      seen?.(update);
    })
    .connect(ndJsonStream(Writable.toWeb(toAgent), Readable.toWeb(toEditor) as ReadableStream<Uint8Array>));
  const hangUp = (): void => {
    connection.close();
    toAgent.end();
  };
  hangUps.push(hangUp);
  const agent: ClientContext = connection.agent;
  const hello = await agent.request("initialize", { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
  const say = (sessionId: string, text: string) =>
    agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  const texts = (kind: string): string =>
    updates
      .flatMap((update) =>
        update.sessionUpdate === kind && "content" in update && update.content && "text" in update.content
          ? [update.content.text]
          : [],
      )
      .join("");
  return { agent, hello, cwd, home, updates, texts, asked, errors, served, say, hangUp };
}

const call = (name: string, input: object): Script => ({ text: "Let me see.", calls: [{ name, input }] });

test("an editor opens a session, reads the answer as it streams, and continues the conversation", async () => {
  const { agent, hello, cwd, say, texts, updates } = await editor([
    call("list_files", {}),
    "first answer",
    "second answer",
  ]);
  expect(hello).toMatchObject({ agentInfo: { name: "subcrew" }, agentCapabilities: { loadSession: true } });
  const { sessionId, modes } = await agent.request("session/new", { cwd, mcpServers: [] });
  expect(modes).toMatchObject({ currentModeId: "default" });
  expect(await say(sessionId, "one")).toMatchObject({ stopReason: "end_turn" });
  expect(texts("agent_message_chunk")).toBe("Let me see.first answer");
  expect(updates.filter(({ sessionUpdate }) => sessionUpdate.startsWith("tool_call"))).toMatchObject([
    { sessionUpdate: "tool_call", kind: "search", status: "in_progress" },
    { sessionUpdate: "tool_call_update", status: "completed" },
  ]);
  await say(sessionId, "two");
  expect(texts("agent_message_chunk")).toContain("second answer");
});

test.for([
  ["once", true],
  ["no", false],
] as const)("the answer %s to a permission request decides about the call", async ([answer, written]) => {
  const write = call("write_file", { path: "a.txt", content: "x" });
  const { agent, cwd, say, asked, updates } = await editor([write, "done"], { answer });
  const { sessionId } = await agent.request("session/new", { cwd, mcpServers: [] });
  await say(sessionId, "Write.");
  expect(asked).toEqual(["edit: allow_once allow_always reject_once"]);
  expect(existsSync(join(cwd, "a.txt"))).toBe(written);
  expect(updates).toContainEqual(expect.objectContaining({ status: written ? "completed" : "failed" }));
});

test("a changed mode applies from the next message on", async () => {
  const write = call("write_file", { path: "a.txt", content: "x" });
  const { agent, cwd, say, asked } = await editor([write, "no", write, "yes"]);
  const { sessionId } = await agent.request("session/new", { cwd, mcpServers: [] });
  await agent.request("session/set_mode", { sessionId, modeId: "dontAsk" });
  await say(sessionId, "Write.");
  expect(existsSync(join(cwd, "a.txt"))).toBe(false);
  await agent.request("session/set_mode", { sessionId, modeId: "acceptEdits" });
  await say(sessionId, "Write now.");
  expect([existsSync(join(cwd, "a.txt")), asked]).toEqual([true, []]);
  await expect(agent.request("session/set_mode", { sessionId, modeId: "wild" })).rejects.toMatchObject({
    code: -32602,
  });
});

test("a question of the agent is part of the conversation, and the next message answers it", async () => {
  const { agent, cwd, say, texts } = await editor([call("ask", { question: "Which one?" }), "the red one"]);
  const { sessionId } = await agent.request("session/new", { cwd, mcpServers: [] });
  expect(await say(sessionId, "Paint.")).toMatchObject({ stopReason: "end_turn" });
  expect(texts("agent_message_chunk")).toContain("Which one?");
  await say(sessionId, "red");
  expect(texts("agent_message_chunk")).toContain("the red one");
});

test("cancelling ends the message, and the session continues", async () => {
  const begun = deferred<void>();
  const stuck = scripted(call("list_files", {}), () => new Promise<never>(() => {}));
  const { agent, cwd, say } = await editor([], {
    model: stuck,
    seen: ({ sessionUpdate }) => void (sessionUpdate === "tool_call_update" && begun.resolve()),
  });
  const { sessionId } = await agent.request("session/new", { cwd, mcpServers: [] });
  const said = say(sessionId, "Wait.");
  await begun.promise;
  await agent.notify("session/cancel", { sessionId });
  expect(await said).toMatchObject({ stopReason: "cancelled" });
});

test("a session is loaded by another process, with its earlier messages", async () => {
  const before = await editor(["first answer", "second answer"]);
  const { sessionId } = await before.agent.request("session/new", { cwd: before.cwd, mcpServers: [] });
  await before.say(sessionId, "one");
  await before.say(sessionId, "two");
  before.hangUp();
  await before.served;
  const { agent, texts, say, cwd } = await editor(["third answer"], { home: before.home });
  await agent.request("session/load", { sessionId, cwd: before.cwd, mcpServers: [] });
  expect([texts("user_message_chunk"), texts("agent_message_chunk")]).toEqual(["onetwo", "first answersecond answer"]);
  await say(sessionId, "three");
  expect(texts("agent_message_chunk")).toContain("third answer");
  const unknown = agent.request("session/load", { sessionId: "run_000000000000", cwd, mcpServers: [] });
  await expect(unknown).rejects.toMatchObject({ code: -32002 });
});

test("mistakes of the editor are reported in a sentence", async () => {
  const { agent, cwd } = await editor([]);
  const prompt = [{ type: "text" as const, text: "x" }];
  await expect(agent.request("session/prompt", { sessionId: "none", prompt })).rejects.toMatchObject({ code: -32002 });
  const { sessionId } = await agent.request("session/new", { cwd, mcpServers: [] });
  await expect(agent.request("session/prompt", { sessionId, prompt: [] })).rejects.toThrow(/empty|prompt/i);
});
