// A run is paused and then resumed by another crew; finished work is not repeated.
import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCrew, type Model } from "subcrew";
import { scripted } from "subcrew/testing";

const home = await mkdtemp(join(tmpdir(), "subcrew-example-"));
const first = scripted("the facts");
const stuck: Model = async function* (_, signal) {
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  yield { type: "error", fault: { code: "MODEL_NETWORK", message: "stopped", retryable: true } };
};
const chain = [
  { name: "facts", task: "Collect.", model: "first" },
  { name: "text", task: "Write: {previous}", model: "second" },
];

const before = createCrew({ home, discover: false, models: { first, second: stuck } }).run({ chain });
await before.first("turn.started", ({ path }) => path === "text");
before.pause("lunch");
console.log(`paused: ${(await before).status}`);

const again = scripted("the text");
const after = await createCrew({ home, discover: false, models: { first, second: again } }).resume(before.id);
console.log(`resumed: ${after.output}; requests to the first model: ${first.requests.length}`);
assert.equal(after.output, "the text");
assert.equal(first.requests.length, 1);
