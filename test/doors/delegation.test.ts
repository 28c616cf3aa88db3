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

test("a model of a Task call that cannot be used here gives way to the default, in a run and outside of one", async () => {
  const ask = { description: "look it up", prompt: "Where?", subagent_type: "scout", model: "haiku" };
  const lead = defineAgent({ name: "lead", description: "d", instructions: "i", tools: ["Task"], model: "lead" });
  const scout = defineAgent({ name: "scout", description: "d", instructions: "i", model: "usual" });
  const models = {
    usual: scripted("found outside", "found inside"),
    lead: scripted({ calls: [{ name: "Task", input: ask }] }, "done"),
  };
  const options = { home: tempFolder(), cwd: tempFolder(), discover: false, env: {}, model: "usual" } as const;
  const crew = createCrew({ ...options, agents: [lead, scout], models });
  const signal = new AbortController().signal;
  const warned: string[] = [];
  const outside = await openDelegation(crew, { as: ["Task"] }).call("Task", ask, {
    signal,
    heard: (event) => void (event.type === "warning" && warned.push(event.text)),
  });
  expect(outside).toMatchObject({ error: false, text: expect.stringContaining("found outside") });
  expect(warned.join()).toContain("scout: the call asks for haiku");

  const run = crew.run({ mode: "single", agent: "lead", task: "x" });
  expect(await run).toMatchObject({ status: "ok", output: "done" });
  expect([...run.state.nodes.values()].find(({ agent: name }) => name === "scout")).toMatchObject({ status: "ok" });
});

test("a call that no model can carry out is an error result, and never throws", async () => {
  const options = { home: tempFolder(), cwd: tempFolder(), discover: false, env: {}, model: "openai/gpt-5" } as const;
  const crew = createCrew({
    ...options,
    agents: [defineAgent({ name: "scout", description: "d", instructions: "i" })],
  });
  const signal = new AbortController().signal;
  const ask = { description: "look it up", prompt: "Where?", subagent_type: "scout", model: "haiku" };
  const result = await openDelegation(crew, { as: ["Task"] }).call("Task", ask, { signal });
  expect(result).toMatchObject({ error: true, text: expect.stringContaining("OPENAI_API_KEY") });
});
