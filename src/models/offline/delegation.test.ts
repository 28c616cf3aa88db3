import { expect, test } from "vitest";
import type { Message, ModelEvent, ToolSpec } from "../../core/model/model.ts";
import { offline } from "./offline.ts";

const task: ToolSpec = {
  name: "Task",
  description: "hands a task to another agent",
  input: {
    type: "object",
    properties: {
      subagent_type: { type: "string", enum: ["Bash", "Explore"] },
      description: { type: "string" },
      prompt: { type: "string" },
    },
  },
};
const grep: ToolSpec = {
  name: "grep_files",
  description: "",
  input: { type: "object", properties: { pattern: {}, filesOnly: {}, maxResults: {} } },
};
const QUESTION = "Where are sessions stored? Which tests cover invoices?";

async function turn(messages: readonly Message[], tools: readonly ToolSpec[]): Promise<ModelEvent[]> {
  const seen: ModelEvent[] = [];
  const request = { model: "m", system: "", messages, tools, toolChoice: "auto" as const };
  for await (const event of offline(request, new AbortController().signal)) seen.push(event);
  return seen;
}
const callsIn = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === "call" ? [event.call] : []));
const textIn = (events: readonly ModelEvent[]) =>
  events.map((event) => (event.type === "text" ? event.text : "")).join("");

/** The conversation after every agent that was started has answered. */
async function answered(answer: { text: string; error: boolean }): Promise<ModelEvent[]> {
  const messages: Message[] = [{ role: "user", text: QUESTION }];
  const calls = callsIn(await turn(messages, [task, grep]));
  const results = calls.map(({ id, name }) => ({ id, name, ...answer }));
  return turn([...messages, { role: "assistant", text: "", calls }, { role: "tool", results }], [task, grep]);
}

test("an agent that can delegate starts one explorer for each part of the question, in parallel", async () => {
  const calls = callsIn(await turn([{ role: "user", text: QUESTION }], [task, grep]));
  expect(calls.map(({ name, input }) => [name, input])).toEqual([
    [
      "Task",
      { subagent_type: "Explore", description: "Where are sessions stored", prompt: "Where are sessions stored" },
    ],
    [
      "Task",
      { subagent_type: "Explore", description: "Which tests cover invoices", prompt: "Which tests cover invoices" },
    ],
  ]);
});

test("the answers of the explorers are returned, each under its part", async () => {
  const events = await answered({ text: "src/session.ts:4", error: false });
  expect(callsIn(events)).toEqual([]);
  expect(textIn(events)).toContain("## Where are sessions stored\n\nsrc/session.ts:4\n\n## Which tests cover invoices");
});

test("when all explorers fail, the offline model searches itself", async () => {
  const calls = callsIn(await answered({ text: "DENIED", error: true }));
  expect(new Set(calls.map(({ name }) => name))).toEqual(new Set(["grep_files"]));
});

test("without a delegation tool the offline model does not delegate", async () => {
  const calls = callsIn(await turn([{ role: "user", text: QUESTION }], [grep]));
  expect(new Set(calls.map(({ name }) => name))).toEqual(new Set(["grep_files"]));
});
