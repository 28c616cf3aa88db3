import { expect, test } from "vitest";
import type { ProviderRequest } from "../../../src/testing/provider-server.ts";
import { provider } from "../../support/talk.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { createCrew, defineAgent, listen, type RunnerName } from "./lab.ts";

const isHelper = ({ body }: ProviderRequest): boolean => JSON.stringify(body).includes("You are now the helper");

test.each<[helper: RunnerName, lead: RunnerName]>([
  ["local", "process"],
  ["thread", "local"],
  ["process", "thread"],
])("a helper in a %s forks the conversation of a lead (%s) with the same bytes", async (helperRunner, leadRunner) => {
  const server = await provider((request, n) => {
    if (isHelper(request)) return { text: "Helped." };
    const tasks = [{ id: "h", assignment: "Count.", fork: true }];
    return n === 1
      ? { text: "Split.", calls: [{ name: "task", input: { agent: "helper", tasks } }] }
      : { text: "Done." };
  });
  const folder = tempFolder();
  const agent = { description: "d", instructions: "i" };
  const crew = createCrew({
    cwd: folder,
    home: tempFolder(),
    discover: false,
    env: { ...server.env, PATH: process.env["PATH"], HOME: folder },
    model: "anthropic/claude-haiku-4-5",
    agents: [
      defineAgent({ ...agent, name: "lead", tools: ["glob", "task"], spawns: ["helper"], runner: leadRunner }),
      defineAgent({ ...agent, name: "helper", tools: ["read_file"], runner: helperRunner }),
    ],
  });
  const { result } = await listen(crew.run({ mode: "single", agent: "lead", task: "Go." }));
  expect(result).toMatchObject({ status: "ok", output: "Done." });
  expect(result.nodes["lead/h"]).toMatchObject({ status: "ok", output: "Helped." });
  const [asked, forked] = [server.requests[0]!.body, server.requests.find(isHelper)!.body];
  const before = asked["messages"] as unknown[];
  expect(JSON.stringify(forked["tools"])).toBe(JSON.stringify(asked["tools"]));
  expect(JSON.stringify(forked["system"])).toBe(JSON.stringify(asked["system"]));
  expect(JSON.stringify((forked["messages"] as unknown[]).slice(0, before.length))).toBe(JSON.stringify(before));
});

test("a helper that another tool runs cannot fork, and the caller gets an error", async () => {
  const server = await provider((request, n) => {
    const tasks = [{ agent: "helper", task: "Count.", fork: true, runner: "codex" }];
    if (n === 1) return { text: "", calls: [{ name: "parallel", input: { tasks } }] };
    return { text: JSON.stringify(request.body).includes("cannot start from a conversation") ? "told" : "not told" };
  });
  const folder = tempFolder();
  const agent = { description: "d", instructions: "i" };
  const crew = createCrew({
    cwd: folder,
    home: false,
    discover: false,
    env: { ...server.env, PATH: process.env["PATH"], HOME: folder },
    model: "anthropic/claude-haiku-4-5",
    agents: [
      defineAgent({ ...agent, name: "lead", tools: ["parallel"], spawns: ["helper"] }),
      defineAgent({ ...agent, name: "helper", runner: "codex" }),
    ],
  });
  const { result } = await listen(crew.run({ mode: "single", agent: "lead", task: "Go." }));
  expect(result).toMatchObject({ status: "ok", output: "told" });
});
