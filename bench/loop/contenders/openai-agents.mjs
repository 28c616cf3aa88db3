// @ts-check
import {
  Agent,
  OpenAIChatCompletionsModel,
  run as runAgent,
  setTracingDisabled,
  tool as defineTool,
} from "@openai/agents";
import OpenAI from "openai";
import { schema, system, together, tool } from "../job.mjs";

setTracingDisabled(true); // otherwise the library would send traces to its vendor

/** @type {import("../job.mjs").Contender} */
export const run = (job) => {
  const client = new OpenAI({ apiKey: "k", baseURL: job.baseURL, maxRetries: 0 });
  const look = defineTool({
    ...tool,
    parameters: /** @type {any} */ (schema),
    execute: async (input) => job.look(/** @type {{ path: string }} */ (input).path),
  });
  return together(job, async () => {
    const agent = new Agent({
      name: "looker",
      instructions: system,
      tools: [look],
      model: new OpenAIChatCompletionsModel(client, "m"),
    });
    const stream = await runAgent(agent, job.prompt, { stream: true, maxTurns: job.turns + 2 });
    let events = 0;
    for await (const event of stream) events += event.type === "" ? 0 : 1;
    if (events === 0) throw new Error("no answer was received");
    await stream.completed;
    return String(stream.finalOutput);
  });
};
