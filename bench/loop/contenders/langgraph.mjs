// @ts-check
import { tool as defineTool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { schema, system, together, tool } from "../job.mjs";

/**
 * LangGraph's stream mode already streams. `streaming: true` would also count tokens, with tables from the internet.
 *
 * @type {import("../job.mjs").Contender}
 */
export const run = (job) => {
  const llm = new ChatOpenAI({
    model: "m",
    apiKey: "k",
    configuration: { baseURL: job.baseURL },
    maxRetries: 0,
  });
  const look = defineTool(async (input) => job.look(/** @type {{ path: string }} */ (input).path), {
    ...tool,
    schema: /** @type {any} */ (schema),
  });
  return together(job, async () => {
    const agent = createReactAgent({ llm, tools: [look], prompt: system });
    let text = "";
    const stream = await agent.stream(
      { messages: [{ role: "user", content: job.prompt }] },
      { streamMode: ["messages"], recursionLimit: job.turns * 2 + 10 },
    );
    for await (const [, [message]] of /** @type {AsyncIterable<any>} */ (stream))
      if (message.getType() === "ai" && typeof message.content === "string") text += message.content;
    return text;
  });
};
