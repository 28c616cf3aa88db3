import { describe, expect, test } from "vitest";
import {
  extractIds,
  extractMessageText,
  extractTaskText,
  type RemoteAnswer,
  type RemoteMessage,
  type RemoteTask,
} from "../../src/core/net/a2a.ts";
import { A2AClientManager } from "../../src/doors/a2a.ts";
import { createCrew, defineAgent } from "../../src/index.ts";
import { rpcServer } from "../a2a/rpc-server.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { cases } from "./harness.ts";

describe("a2a-text", () => {
  test.each(cases<{ message?: RemoteMessage; task?: RemoteTask }, string>("004-gemini", "a2a-text"))(
    "$name",
    ({ input, want }) => {
      expect(input.task ? extractTaskText(input.task) : extractMessageText(input.message)).toBe(want);
    },
  );
});

describe("a2a-ids", () => {
  test.each(cases<{ response: RemoteAnswer }, { contextId: string; taskId: string | null }>("004-gemini", "a2a-ids"))(
    "$name",
    ({ input, want }) => {
      const { contextId = null, taskId = null } = extractIds(input.response);
      expect({ contextId, taskId }).toEqual(want);
    },
  );
});

describe("a2a-session: calls of one remote agent share its card and its ids", () => {
  type Reply = { contextId?: string; taskId?: string; task?: string } | string;
  type Want = { second_load_throws?: string; text?: string; thrown?: boolean; sent_ids?: object[] };
  const rows = cases<{ name?: string; error?: string; calls?: { reply: Reply }[] }, Want>("004-gemini", "a2a-session");

  test.each(rows.filter(({ want }) => want.second_load_throws))("$name", async ({ input, want }) => {
    const server = await rpcServer([]);
    const manager = new A2AClientManager({ network: { allowHosts: [server.host] } });
    await manager.loadAgent(input.name!, server.cardUrl);
    await expect(manager.loadAgent(input.name!, server.cardUrl)).rejects.toThrow(want.second_load_throws!);
    await manager.sendMessage(input.name!, "hello").catch(() => {});
    expect(server.requests.filter(({ url }) => url === "/card.json")).toHaveLength(1);
  });

  test.each(rows.filter(({ input }) => input.error))("$name", async ({ input, want }) => {
    const server = await rpcServer([], undefined, input.error);
    const agent = defineAgent({ name: "far", description: "", instructions: "", remote: { cardUrl: server.cardUrl } });
    const crew = createCrew({
      cwd: tempFolder(),
      home: false,
      env: {},
      discover: false,
      agents: [agent],
      network: { allowHosts: [server.host] },
      permissions: { mode: "bypass" },
      unattended: true,
    });
    const run = crew.run({ mode: "single", agent: "far", task: "Go." });
    const thrown = await run.then(
      () => false,
      () => true,
    );
    expect({ text: (await run).fault?.message, thrown }).toEqual(want);
  });

  test.each(rows.filter(({ input }) => input.calls))("$name", async ({ input, want }) => {
    const server = await rpcServer(input.calls!.map(({ reply }) => answerFor(reply)));
    const manager = new A2AClientManager({ network: { allowHosts: [server.host] } });
    await manager.loadAgent("agent", server.cardUrl);
    const conversation = manager.conversation("agent");
    for (const [n] of input.calls!.entries()) await conversation.send(`call ${n}`);
    const sent = server.sent().map(({ contextId = null, taskId = null }) => ({ contextId, taskId }));
    expect(sent).toEqual(want.sent_ids);
  });

  function answerFor(reply: Reply): object {
    const message = { kind: "message", messageId: "m", role: "agent", parts: [{ kind: "text", text: "ok" }] };
    if (typeof reply === "string") return { ...message, contextId: "ctx-1" };
    if (reply.task !== undefined)
      return { kind: "task", id: "task-2", contextId: "ctx-1", status: { state: reply.task } };
    return { ...message, ...reply };
  }
});

test("a cleared cache loads the agent again", async () => {
  const server = await rpcServer([]);
  const manager = new A2AClientManager({ network: { allowHosts: [server.host] } });
  const cards = (): number => server.requests.filter(({ url }) => url === "/card.json").length;
  await manager.loadAgent("a", server.cardUrl);
  manager.clearCache();
  await manager.loadAgent("a", server.cardUrl);
  expect(cards()).toBe(2);
});
