// @ts-check
import { Agent } from "@earendil-works/pi-agent-core";
import { streamSimple } from "@earendil-works/pi-ai/api/openai-completions";
import { schema, system, together, tool } from "../job.mjs";

/** @type {import("../job.mjs").Contender} */
export const run = (job) => {
  /** @type {any} */
  const model = {
    id: "m",
    name: "m",
    api: "openai-completions",
    provider: "house",
    baseUrl: job.baseURL,
    reasoning: false,
    input: ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 1_000_000,
    maxTokens: 8_192,
  };
  /** @type {any} */
  const look = {
    ...tool,
    label: "look",
    parameters: schema,
    execute: async (/** @type {string} */ _id, /** @type {{ path: string }} */ { path }) => ({
      content: [{ type: "text", text: job.look(path) }],
      details: undefined,
    }),
  };
  return together(job, async () => {
    const agent = new Agent({
      initialState: { systemPrompt: system, model, tools: [look] },
      streamFn: /** @type {any} */ (streamSimple),
      getApiKey: () => "k",
    });
    let text = "";
    agent.subscribe((event) => {
      if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta")
        text += event.assistantMessageEvent.delta;
    });
    await agent.prompt(job.prompt);
    if (agent.state.errorMessage) throw new Error(agent.state.errorMessage);
    return text;
  });
};
