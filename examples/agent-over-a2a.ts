// One crew offers an agent over the A2A protocol; another crew uses it like a local agent.
import assert from "node:assert/strict";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCrew, defineAgent } from "subcrew";
import { serveA2a } from "subcrew/a2a";

const folder = await mkdtemp(join(tmpdir(), "subcrew-example-"));
await writeFile(join(folder, "prices.ts"), "export const discount = 0.2;\n");
const server = await serveA2a(createCrew({ cwd: folder, home: join(folder, "state"), discover: false }), {
  agents: ["explore"],
});

const far = defineAgent({
  name: "far",
  description: "An explorer on another machine.",
  instructions: "",
  remote: { cardUrl: `${server.url}/explore`, auth: { type: "bearer", token: "$FAR_TOKEN" } },
});
const { host } = new URL(server.url);
const crew = createCrew({
  agents: [far],
  discover: false,
  home: false,
  env: { ...process.env, FAR_TOKEN: server.tokens["caller"] },
  network: { allowHosts: [host] }, // the server is on this machine; local addresses are not allowed by default
  permissions: { allow: [`a2a(${server.url}/*)`] }, // without this rule, a person would have to approve the call
});
const { status, output } = await crew.run({ agent: "far", task: "Where is discount defined?" });
await server.close();
console.log(`An agent behind ${server.url} answered:\n${output}`);

assert.equal(status, "ok");
assert.match(output, /prices\.ts:1/);
