// Two models compete; only an answer that matches the schema can win.
import assert from "node:assert/strict";
import { createCrew } from "subcrew";
import { scripted } from "subcrew/testing";

const crew = createCrew({
  home: false,
  discover: false,
  models: { hasty: scripted("I guess so."), careful: scripted('{"answer": 42}') },
});
const { status, output, from } = await crew.run({
  race: {
    task: "What is six times seven? Answer as JSON.",
    models: ["hasty", "careful"],
    acceptSchema: { type: "object", properties: { answer: { type: "number" } }, required: ["answer"] },
  },
});

console.log(`${from?.join()} won with ${output}`);
assert.equal(status, "ok");
assert.deepEqual(from, ["careful"]);
