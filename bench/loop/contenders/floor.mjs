// @ts-check
import { schema, system, together, tool } from "../job.mjs";

/**
 * A minimal hand-written agent loop: fetch, a loop over the stream, JSON.parse, and all messages again each turn.
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
      for await (const event of events(job.baseURL, { model: "m", stream: true, messages, tools })) {
        const delta = event.choices[0]?.delta;
        if (delta?.content) content += delta.content;
        for (const { index, id, function: made } of delta?.tool_calls ?? []) {
          const call = (tool_calls[index] ??= { id, type: "function", function: { name: made.name, arguments: "" } });
          call.function.arguments += made.arguments ?? "";
        }
      }
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
 * @returns {AsyncGenerator<any>}
 */
async function* events(baseURL, body) {
  const response = await fetch(`${baseURL}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer k" },
    body: JSON.stringify(body),
  });
  if (!response.ok || !response.body) throw new Error(`${response.status}`);
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of response.body) {
    rest += decoder.decode(piece, { stream: true });
    const parts = rest.split("\n\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const data = part.slice(part.indexOf("data: ") + 6);
      if (data !== "[DONE]") yield JSON.parse(data);
    }
  }
}
