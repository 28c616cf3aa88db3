// Permissions: this agent may only read files, so its attempt to write one is refused.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCrew, defineAgent } from "subcrew";
import { scripted } from "subcrew/testing";

const cwd = await mkdtemp(join(tmpdir(), "subcrew-example-"));
const reader = defineAgent({ name: "reader", description: "Reads.", instructions: "Read.", tools: ["read_file"] });
const crew = createCrew({
  cwd,
  home: false,
  discover: false,
  agents: [reader],
  models: {
    sly: scripted({ calls: [{ name: "write_file", input: { path: "evil.txt", content: "x" } }] }, "I could not write."),
  },
});
const run = crew.run({ agent: "reader", task: "Write a file." });
for await (const { tool, text } of run.events("tool.denied")) console.log(`${tool} was refused: ${text}`);

console.log((await run).output);
assert.equal(existsSync(join(cwd, "evil.txt")), false);
