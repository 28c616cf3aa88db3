import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createCrew, defineAgent, openDelegation, Subagent } from "../../src/index.ts";
import { type Script, scripted } from "../../src/models/scripted/scripted.ts";
import { deferred } from "../../src/runtime/async/deferred.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/until.ts";

const crewWith = (...says: readonly Script[]) => {
  const model = scripted(...says);
  const crew = createCrew({
    cwd: tempFolder(),
    home: tempFolder(),
    env: { PATH: "/bin" },
    discover: false,
    agents: [defineAgent({ name: "Finder", description: "Finds.", instructions: "Find.", tools: ["read_file"] })],
    models: { m: model },
  });
  return { crew, model };
};

test("a Subagent runs, reports its status and resumes with its history", async () => {
  const { crew, model } = crewWith("found it", "found more");
  const finder = new Subagent("Finder", { crew, maxTurns: 3 });
  const first = await finder.run("Find it.");
  expect(first).toMatchObject({
    success: true,
    result: "found it",
    agentId: expect.stringMatching(/^run_\w+\/Finder$/),
  });
  expect(finder.getStatus()).toBe("completed");
  expect(await finder.resume(first.agentId, "More.")).toMatchObject({ success: true, result: "found more" });
  expect(model.requests[1]!.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
});

test("the configuration of a Subagent limits tools and turns and sets the prompt", async () => {
  const read = { calls: [{ name: "read_file", input: { path: "a" } }] };
  const { crew, model } = crewWith(read, read, read, "done");
  const finder = new Subagent("Finder", { crew, allowedTools: [], systemPrompt: "Find well.", maxTurns: 1 });
  await finder.run("x");
  expect(model.requests[0]!.tools.map(({ name }) => name)).not.toContain("read_file");
  expect(model.requests[0]!.system).toContain("Find well.");
  expect(model.requests).toHaveLength(2); // one turn, and the last turn in which the agent returns what it has
});

test("a Subagent reports the calls that it has made", async () => {
  const { crew } = crewWith({ calls: [{ id: "c", name: "read_file", input: { path: "a.txt" } }] }, "found it");
  const finder = new Subagent("Finder", { crew });
  await finder.run("Find it.");
  await until(() => finder.getProgress().length > 0);
  expect(finder.getProgress()).toEqual(["read_file(a.txt)"]);
});

test("a Subagent in the background names its output file at once and is completed later", async () => {
  const slowly = deferred<string>();
  const { crew } = crewWith(() => slowly.promise);
  const finder = new Subagent("Finder", { crew });
  const { agentId, outputFile } = await finder.runInBackground("Find it.");
  expect(finder.getStatus()).toBe("running");
  expect(readFileSync(outputFile, "utf8")).toContain("has no result yet");
  slowly.resolve("slowly");
  await until(() => finder.getStatus() === "completed");
  expect(agentId).toMatch(/^run_/);
  expect(readFileSync(outputFile, "utf8")).toBe("slowly\n");
});

test("a Subagent that fails returns the error, and an unknown id cannot be resumed", async () => {
  const { crew } = crewWith({ error: { code: "MODEL_AUTH", message: "no key", retryable: false } });
  const finder = new Subagent("Finder", { crew });
  expect(await finder.run("Find it.")).toMatchObject({
    success: false,
    error: "no key",
    agentId: expect.stringMatching(/^run_\w+\/Finder$/),
  });
  expect(finder.getStatus()).toBe("error");
  expect(await finder.resume("run_aaaaaaaaaaaa/Finder")).toMatchObject({
    success: false,
    error: expect.stringMatching(/^Resume failed: Session not found/),
  });
});

test("a surface offers delegation tools, and each call is a run of the crew", async () => {
  const { crew } = crewWith("found it", "later found");
  const office = openDelegation(crew, { as: ["Task", "agents"] });
  const tools = await office.tools();
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["Task", "TaskOutput", "Finder"]));
  const signal = new AbortController().signal;
  const seen: string[] = [];
  const ask = { description: "find it", prompt: "Find it.", subagent_type: "Finder" };
  const answer = await office.call("Task", ask, { signal, heard: ({ type }) => seen.push(type) });
  expect(answer.text).toMatch(/^found it\n\n\[agentId: run_\w+\/Finder\]$/);
  expect(seen).toContain("run.ended");
  const begun = await office.call("Task", { ...ask, run_in_background: true }, { signal });
  const { agentId } = begun.details as { agentId: string };
  expect((await office.call("TaskOutput", { action: "wait", taskId: agentId }, { signal })).text).toBe(
    "Task completed with status: completed",
  );
  expect((await office.call("TaskOutput", { action: "result", taskId: agentId }, { signal })).text).toBe("later found");
});

test("an agent that is offered as its own tool is called with its inputs, and checks them", async () => {
  const model = scripted("it is fine");
  const inputs = { target: { type: "string", description: "what", required: true } };
  const crew = createCrew({
    cwd: tempFolder(),
    home: tempFolder(),
    env: { PATH: "/bin" },
    discover: false,
    agents: [defineAgent({ name: "analyst", description: "Analyses.", instructions: "Analyse ${target}.", inputs })],
    models: { m: model },
  });
  const office = openDelegation(crew, { as: ["agents"] });
  const tool = (await office.tools()).find(({ name }) => name === "analyst");
  expect(tool).toMatchObject({ description: "Analyses.", input: { required: ["target"] } });
  const signal = new AbortController().signal;
  expect(await office.call("analyst", {}, { signal })).toMatchObject({
    text: "target: Required. Expected inputs: 'target' (required string).",
    error: true,
  });
  expect(model.requests).toHaveLength(0);
  expect((await office.call("analyst", { target: "auth" }, { signal })).text).toContain("it is fine");
  expect(model.requests[0]!.system).toContain("Analyse auth.");
});
