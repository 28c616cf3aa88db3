// @ts-check
import { isStepCount, jsonSchema, tool as defineTool, ToolLoopAgent } from "ai";
import { createOpenAICompatible } from "openai-compatible-for-ai-7";
import { schema, system, together, tool } from "../job.mjs";

/** @type {import("../job.mjs").Contender} */
export const run = (job) => {
  const provider = createOpenAICompatible({ name: "house", baseURL: job.baseURL, apiKey: "k", includeUsage: true });
  const look = defineTool({
    description: tool.description,
    inputSchema: jsonSchema(/** @type {any} */ (schema)),
    execute: async (input) => job.look(/** @type {{ path: string }} */ (input).path),
  });
  return together(job, async () => {
    const agent = new ToolLoopAgent({
      model: provider("m"),
      instructions: system,
      tools: { look },
      stopWhen: isStepCount(job.turns + 2),
    });
    const result = await agent.stream({ prompt: job.prompt });
    let text = "";
    for await (const part of result.fullStream) if (part.type === "text-delta") text += part.text;
    return text;
  });
};
