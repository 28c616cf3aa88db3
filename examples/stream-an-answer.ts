// Prints the answer while the model writes it; a signal sets the time limit.
import assert from "node:assert/strict";
import { createCrew, type Model } from "subcrew";

/** A scripted model; leave it out to use a real one. */
const poet: Model = async function* () {
  for (const line of [
    "Roses are red,\n",
    "journals are long,\n",
    "a run that was stopped\n",
    "goes on where it belonged.\n",
  ])
    yield { type: "text", text: line };
  yield { type: "end", usage: { input: 10, output: 20 } };
};
const crew = createCrew({ home: false, discover: false, models: { poet } });
const run = crew.run({ task: "Write a poem about resume." }, { signal: AbortSignal.timeout(60_000) });

let written = "";
for await (const piece of run.textStream) {
  process.stdout.write(piece);
  written += piece;
}
assert.equal(written.trim(), (await run).output.trim());
