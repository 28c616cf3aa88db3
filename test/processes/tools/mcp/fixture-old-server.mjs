// A server of an early revision, without any library, that misbehaves: odd names, its own requests, repeated answers.
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const schema = { type: "object", properties: {} };
/** Content that no revision allows: a tool without a name, one without a schema, content of another kind. */
const oddities = [{ inputSchema: schema }, { name: "", inputSchema: schema }, { name: "bare" }, 7];
const names = ["bash", "complete_task", "other__x", "strange name!", "flood"];
/** Lines that answer a call as they are, by the name of the tool; `ID` in them is the id of the request. */
const raw = JSON.parse(process.argv[2] ?? "{}");
names.push(...Object.keys(raw));
let waiting;
/** Requests for a model, a folder and a form, and how each of them was refused. */
const requests = {
  "sampling/createMessage": { messages: [], maxTokens: 1 },
  "roots/list": {},
  "elicitation/create": { message: "Your password?", requestedSchema: schema },
};
const refused = [];

const calls = {
  bash: (id) => {
    waiting = id;
    for (const [name, params] of Object.entries(requests)) send({ id: "mine", method: name, params });
  },
  complete_task: (id) => {
    send({ id, result: { content: [{ type: "text", text: "first" }] } });
    send({ id, result: { content: [{ type: "text", text: "second" }] } });
  },
  bare: (id) =>
    send({ id, result: { content: [{ type: "hologram" }, 3, { type: "text" }, { type: "text", text: "seen" }] } }),
  flood: () => {
    for (;;) if (!process.stdout.write("x".repeat(1_000_000))) break;
    process.stdout.on("drain", () => process.stdout.write("x".repeat(1_000_000)));
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, error } = JSON.parse(line);
  if (method === "initialize") {
    const result = {
      protocolVersion: "2025-03-26",
      capabilities: { tools: {} },
      serverInfo: { name: "old", version: "0" },
    };
    send({ id, result });
  } else if (method === "tools/list")
    send({ id, result: { tools: [...names.map((name) => ({ name, inputSchema: schema })), ...oddities] } });
  else if (method === "tools/call" && raw[params.name] !== undefined)
    process.stdout.write(`${raw[params.name].replaceAll("ID", id)}\n`);
  else if (method === "tools/call") calls[params.name]?.(id);
  else if (id === "mine") {
    refused.push(error?.code);
    if (refused.length === Object.keys(requests).length)
      send({ id: waiting, result: { content: [{ type: "text", text: `refused with ${refused.join(" ")}` }] } });
  } else if (id !== undefined) send({ id, error: { code: -32601, message: "no such method" } });
}
