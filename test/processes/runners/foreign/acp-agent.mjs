// A real ACP agent, made with the official library: the prompt says what it does, one command per line.

import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { agent, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";

let count = 0;
const say = (client, sessionId, text) =>
  client.notify("session/update", {
    sessionId,
    update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
  });

const steps = {
  say: ({ client, sessionId }, text) => say(client, sessionId, text),
  env: ({ client, sessionId }, name) => say(client, sessionId, `${name}=${process.env[name]}`),
  read: async ({ client, sessionId }, path) => {
    const { content } = await client
      .request("fs/read_text_file", { sessionId, path })
      .catch((error) => ({ content: `no: ${error.message}` }));
    await say(client, sessionId, `[${content.trim()}]`);
  },
  write: async ({ client, sessionId }, text) => {
    const [path, content] = text.split("=");
    const done = await client.request("fs/write_text_file", { sessionId, path, content: `${content}\n` }).then(
      () => "written",
      () => "refused",
    );
    await say(client, sessionId, `[${done}]`);
  },
  ask: async ({ client, sessionId }, text) => {
    const [kind, what] = text.split("=");
    const toolCallId = `call_${++count}`;
    const about =
      kind === "execute"
        ? { rawInput: { command: what } }
        : kind === "fetch"
          ? { rawInput: { url: what } }
          : { locations: what === "" ? [] : [{ path: what }] };
    await client.notify("session/update", {
      sessionId,
      update: { sessionUpdate: "tool_call", toolCallId, title: what, kind, status: "pending", ...about },
    });
    const { outcome } = await client.request("session/request_permission", {
      sessionId,
      toolCall: { toolCallId, title: what, kind, ...about },
      options: [
        { optionId: "yes", name: "Allow", kind: "allow_once" },
        { optionId: "always", name: "Always", kind: "allow_always" },
        { optionId: "no", name: "Reject", kind: "reject_once" },
      ],
    });
    const chosen = outcome.outcome === "selected" ? outcome.optionId : outcome.outcome;
    const status = chosen === "no" ? "failed" : "completed";
    await client.notify("session/update", {
      sessionId,
      update: {
        sessionUpdate: "tool_call_update",
        toolCallId,
        status,
        content: [{ type: "content", content: { type: "text", text: chosen } }],
      },
    });
    await say(client, sessionId, `[${kind}: ${chosen}]`);
  },
  cost: ({ client, sessionId }, amount) =>
    client.notify("session/update", {
      sessionId,
      update: {
        sessionUpdate: "usage_update",
        used: 500,
        size: 1000,
        cost: { amount: Number(amount), currency: "USD" },
      },
    }),
  child: () =>
    spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true, stdio: "ignore" }).unref(),
  hang: () => new Promise(() => setInterval(() => {}, 1_000_000)),
  run: (_, program) => {
    spawn(process.execPath, ["-e", program], { stdio: "ignore" });
  },
  crash: () => {
    process.stderr.write("out of luck\n");
    process.exit(9);
  },
};

agent({ name: "test-agent" })
  .onRequest("initialize", ({ params }) => ({
    protocolVersion: PROTOCOL_VERSION,
    agentCapabilities: { promptCapabilities: {} },
    _meta: { saw: params.clientCapabilities },
  }))
  .onRequest("session/new", ({ params }) => {
    process.chdir(params.cwd);
    return { sessionId: "s1" };
  })
  .onNotification("session/cancel", () => {})
  .onRequest("session/prompt", async ({ params: { sessionId, prompt }, client }) => {
    const lines = prompt
      .map((block) => block.text)
      .join("\n")
      .split("\n");
    for (const line of lines) {
      const [, step, rest = ""] = /^(\w+)(?: (.*))?$/.exec(line) ?? [];
      if (step === "stop") return { stopReason: rest };
      if (step in steps) await steps[step]({ client, sessionId }, rest);
    }
    return { stopReason: "end_turn" };
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
