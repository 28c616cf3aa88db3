// A team: a writer plans and writes, a person approves the plan, a critic reviews until it approves, a printer prints.
import assert from "node:assert/strict";
import { createCrew } from "subcrew";
import { scripted } from "subcrew/testing";

const crew = createCrew({
  home: false,
  discover: false,
  models: {
    writer: scripted("I would begin with the headline.", "first draft", "second draft"),
    critic: scripted("Too short.\n\nREVISION_NEEDED", "Good.\n\nAPPROVED"),
    printer: scripted("printed"),
  },
});
const run = crew.run({
  team: {
    objective: "A leaflet",
    members: [
      { role: "writer", model: "writer" },
      { role: "critic", model: "critic" },
      { role: "printer", model: "printer" },
    ],
    tasks: [
      {
        id: "text",
        task: "Write the leaflet.",
        assignee: "writer",
        review: { reviewer: "critic" },
        requiresApproval: true,
      },
      { id: "print", task: "Print: {task:text}", assignee: "printer" },
    ],
  },
});
for await (const event of run) {
  if (event.type === "gate.opened") await run.answer(event.path, { approve: true, by: "the editor" });
  if (event.type === "node.ended") console.log(`${event.path || "team"}: ${event.outcome.status}`);
}

const { status, nodes } = await run;
assert.equal(status, "ok");
assert.equal(nodes["text"]?.status === "ok" && nodes["text"].output, "second draft");
