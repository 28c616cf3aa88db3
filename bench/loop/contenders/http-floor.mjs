// @ts-check
import http from "node:http";
import { schema, system, together, tool } from "../job.mjs";

const agent = new http.Agent({ keepAlive: true });

/**
 * The floor (a minimal hand-written loop) over `node:http`, which costs half as much as fetch: a keep-alive connection,
 * a loop over the stream, JSON.parse.
 *
 * @type {import("../job.mjs").Contender}
 */
export const run = (job) =>
  together(job, async () => {
    const messages = /** @type {object[]} */ ([
      { role: "system", content: system },
      { role: "user", content: job.prompt },
    ]);
    const tools = [{ type: "function", function: { ...tool, parameters: schema } }];
    for (;;) {
      let content = "";
      /** @type {{ id: string, type: "function", function: { name: string, arguments: string } }[]} */
      const tool_calls = [];
      await ask(job.baseURL, { model: "m", stream: true, messages, tools }, (event) => {
        const delta = event.choices[0]?.delta;
        if (delta?.content) content += delta.content;
        for (const { index, id, function: made } of delta?.tool_calls ?? []) {
          const call = (tool_calls[index] ??= { id, type: "function", function: { name: made.name, arguments: "" } });
          call.function.arguments += made.arguments ?? "";
        }
      });
      if (tool_calls.length === 0) return content;
      messages.push({ role: "assistant", content, tool_calls });
      for (const call of tool_calls)
        messages.push({
          role: "tool",
          tool_call_id: call.id,
          content: job.look(JSON.parse(call.function.arguments).path),
        });
    }
  });

/**
 * @param {string} baseURL
 * @param {object} body
 * @param {(event: any) => void} take
 * @returns {Promise<void>}
 */
function ask(baseURL, body, take) {
  const text = JSON.stringify(body);
  const headers = {
    "content-type": "application/json",
    authorization: "Bearer k",
    "content-length": Buffer.byteLength(text),
  };
  return new Promise((resolve, reject) => {
    const request = http.request(`${baseURL}/chat/completions`, { method: "POST", agent, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${response.statusCode}`));
      response.setEncoding("utf8");
      let rest = "";
      response.on("data", (piece) => {
        const parts = (rest + piece).split("\n\n");
        rest = parts.pop() ?? "";
        for (const part of parts) {
          const data = part.slice(part.indexOf("data: ") + 6);
          if (data !== "[DONE]") take(JSON.parse(data));
        }
      });
      response.on("end", resolve);
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end(text);
  });
}
