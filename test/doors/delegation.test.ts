import { expect, test } from "vitest";
import { createCrew, defineAgent, openDelegation } from "../../src/index.ts";
import { scripted } from "../../src/models/scripted/scripted.ts";
import { tempFolder } from "../support/temp-folder.ts";

const agent = (name: string) => defineAgent({ name, description: "d", instructions: "i", model: name });

test("a race through openDelegation reports its winner", async () => {
  const models = {
    quick: scripted("42"),
    broken: scripted({ error: { code: "MODEL_REFUSED", message: "no", retryable: false } }),
  };
  const agents = [agent("quick"), agent("broken")];
  const crew = createCrew({ home: false, cwd: tempFolder(), discover: false, env: {}, agents, models });
  const opened = openDelegation(crew, { as: ["parallel"] });
  const result = await opened.call(
    "parallel",
    { race: { task: "6 x 7?", agents: ["broken", "quick"] } },
    { signal: new AbortController().signal },
  );
  expect(result).toMatchObject({ text: "42", details: { winner: "quick" } });
});

test("the details of a team contain its review rounds", async () => {
  const models = { dev: scripted("one", "two"), rev: scripted("no tests\nREVISION_NEEDED", "APPROVED") };
  const crew = createCrew({
    home: false,
    cwd: tempFolder(),
    discover: false,
    env: {},
    agents: [agent("dev"), agent("rev")],
    models,
  });
  const opened = openDelegation(crew, { as: ["parallel"] });
  const members = [
    { role: "dev", agent: "dev" },
    { role: "rev", agent: "rev" },
  ];
  const tasks = [{ id: "build", task: "Build.", assignee: "dev", review: { reviewer: "rev" } }];
  const { text, details } = await opened.call(
    "parallel",
    { team: { objective: "o", members, tasks } },
    { signal: new AbortController().signal },
  );
  expect(text).toMatch(/^### ✓ \[dev\] dev:build \(2 review rounds, 4 turns/m);
  expect(details).toMatchObject({
    results: [{ id: "build", usage: { turns: 4 } }],
    usage: { turns: 4 },
    dagInfo: {
      objective: "o",
      members: [{ role: "dev" }, { role: "rev" }],
      tasks: [
        {
          id: "build",
          assignee: "dev",
          iteration: 2,
          maxIterations: 3,
          approved: true,
          reviewHistory: [
            { iteration: 1, approved: false, feedback: "no tests" },
            { iteration: 2, approved: true },
          ],
        },
      ],
    },
  });
});

test("where no message can arrive later, spawn_subagent says that it waits, and returns the result with its id", async () => {
  const models = { scout: scripted("found it") };
  const crew = createCrew({
    home: false,
    cwd: tempFolder(),
    discover: false,
    env: {},
    agents: [agent("scout")],
    models,
  });
  const opened = openDelegation(crew, { as: ["spawn_subagent"] });
  const [spawn] = await opened.tools();
  expect(spawn!.description).toMatch(/waits for it and returns its result/);
  expect(spawn!.description).not.toMatch(/arrives as a message/);
  const asked = { type: "scout", description: "Find it", input: "Find it." };
  const { text } = await opened.call("spawn_subagent", asked, { signal: new AbortController().signal });
  expect(text).toMatch(/^found it\n\n\[taskId: run_\w+\/scout\]$/);
});

test("without agents, delegate_to_agent says so in the words of Gemini CLI", async () => {
  const crew = createCrew({ home: false, cwd: tempFolder(), discover: false, env: {} });
  const [tool] = await crew.delegationTools(["delegate_to_agent"], { catalog: { agents: [], disabled: [] } });
  expect(tool!.description).toBe("Delegates a task to a specialized sub-agent. No agents are currently available.");
  expect(JSON.stringify(tool!.input)).toContain("No agents are currently available.");
});
