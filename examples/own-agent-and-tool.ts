// An agent and a tool of your own. The model is scripted here; leave `models` out to use a real one.
import assert from "node:assert/strict";
import { createCrew, defineAgent, defineTool } from "subcrew";
import { scripted } from "subcrew/testing";
import { z } from "zod";

const weather = defineTool({
  name: "weather",
  description: "Tells the weather in a city.",
  input: z.object({ city: z.string() }),
  effect: "read",
  run: ({ city }) => `It rains in ${city}.`,
});

const reporter = defineAgent({
  name: "reporter",
  description: "Reports the weather.",
  instructions: "Ask the tool, then answer in one sentence.",
  tools: ["weather"],
});

const crew = createCrew({
  home: false,
  discover: false,
  agents: [reporter],
  tools: [weather],
  models: { demo: scripted({ calls: [{ name: "weather", input: { city: "Oslo" } }] }, "Take an umbrella to Oslo.") },
  model: "demo",
});
const run = crew.run({ agent: "reporter", task: "Do I need an umbrella in Oslo?" });

const tools: string[] = [];
for await (const event of run) if (event.type === "tool.ended") tools.push(event.text);

console.log(`The tool said: ${tools.join()}\nThe agent said: ${(await run).output}`);
assert.deepEqual(tools, ["It rains in Oslo."]);
assert.equal((await run).output, "Take an umbrella to Oslo.");
