// An answer as typed data: the schema checks it. Here the first answer is not valid, so the model is asked to correct it.
import assert from "node:assert/strict";
import { createCrew, defineAgent } from "subcrew";
import { scripted } from "subcrew/testing";
import { z } from "zod";

const place = z
  .object({ file: z.string(), from: z.int(), to: z.int() })
  .refine(({ from, to }) => from <= to, "from is not after to");
const finder = defineAgent({ name: "finder", description: "Finds.", instructions: "Find it.", output: place });

const answer = (result: object) => ({ calls: [{ name: "complete_task", input: { result } }] });
const crew = createCrew({
  home: false,
  discover: false,
  agents: [finder],
  models: { demo: scripted(answer({ file: "a.ts", from: 9, to: 2 }), answer({ file: "a.ts", from: 2, to: 9 })) },
});
const result = await crew.run({ agent: "finder", task: "Where is it?" });

assert(result.status === "ok");
console.log(`${result.data.file}, lines ${result.data.from} to ${result.data.to}; turns: ${result.usage.turns}`);
assert.equal(result.usage.turns, 2);
