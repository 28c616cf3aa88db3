import { expect, test } from "vitest";
import { localInvocation, type OutputObject, type SubagentActivityEvent } from "../../src/doors/gemini.ts";
import { createCrew, defineAgent } from "../../src/index.ts";
import { type Script, scripted } from "../../src/models/scripted/scripted.ts";
import { tempFolder } from "../support/temp-folder.ts";

/** Runs an agent that may only list files, and collects its activity. */
async function invoked(
  ...turns: readonly Script[]
): Promise<{ output: OutputObject; activity: SubagentActivityEvent[] }> {
  const crew = createCrew({
    cwd: tempFolder({ "a.txt": "a" }),
    home: false,
    env: {},
    discover: false,
    unattended: true,
    models: { m: scripted(...turns) },
    agents: [defineAgent({ name: "scout", description: "d", instructions: "i", tools: ["list_files"] })],
  });
  const activity: SubagentActivityEvent[] = [];
  const invocation = localInvocation(crew, { name: "scout", inputs: { query: "go" } });
  const output = await invocation.execute(new AbortController().signal, undefined, (event) => activity.push(event));
  return { output, activity };
}

test("an invocation reports thoughts, calls with their arguments and results, and errors while it runs", async () => {
  const { output, activity } = await invoked(
    { thinking: "Hm.", calls: [{ name: "list_files", input: { path: "." } }] },
    { calls: [{ name: "write_file", input: { path: "b.txt", content: "b" } }] },
    "Found a.txt.",
  );
  expect(output).toMatchObject({ result: "Found a.txt.", terminate_reason: "GOAL" });
  for (const { isSubagentActivityEvent, agentName } of activity)
    expect([isSubagentActivityEvent, agentName]).toEqual([true, "scout"]);
  expect(activity.map(({ type, data }) => [type, data])).toEqual([
    ["THOUGHT_CHUNK", { text: "Hm." }],
    ["TOOL_CALL_START", { name: "list_files", args: { path: "." } }],
    ["TOOL_CALL_END", { name: "list_files", output: expect.stringContaining("a.txt") as string }],
    ["ERROR", { context: "tool_call", name: "write_file", error: expect.stringContaining("DENIED") as string }],
  ]);
});

test("an invocation that fails reports its error, and the reason of its end", async () => {
  const { output, activity } = await invoked({ error: { code: "MODEL_AUTH", message: "no key", retryable: false } });
  expect(output.terminate_reason).toBe("ERROR");
  expect(activity).toMatchObject([{ type: "ERROR", data: { context: "agent", error: "no key" } }]);
});
