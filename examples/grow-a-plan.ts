// A plan that grows while it runs: the result of the first task decides which task is added.
import assert from "node:assert/strict";
import { createCrew } from "subcrew";
import { scripted } from "subcrew/testing";

const crew = createCrew({
  home: false,
  discover: false,
  models: { scout: scripted("parser\nlexer"), worker: scripted("done", "done") },
});
const run = crew.run({
  tasks: [
    { name: "scout", task: "Which modules are there?", model: "scout" },
    { name: "wait", task: "Sum up {task:scout}", model: "worker" },
  ],
});

for await (const event of run) {
  if (event.type !== "node.ended" || event.path !== "scout" || event.outcome.status !== "ok") continue;
  const [first = ""] = event.outcome.output.split("\n");
  console.log(`The scout found ${first}, so a task for it is added.`);
  run.change({
    newTasks: { [first]: { kind: "task", task: { prompt: `Look into ${first}.`, model: "worker", refs: {} } } },
  });
}

const { status, nodes } = await run;
for (const [name, { status: how }] of Object.entries(nodes)) console.log(`${name}: ${how}`);
assert.equal(status, "ok");
assert.equal(nodes["parser"]?.status, "ok");
