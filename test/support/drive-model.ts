import { z } from "zod";
import type { Message, Model, ModelRequest, ToolAnswer, ToolCall, TurnUsage } from "../../src/core/model/model.ts";
import { isFinishTool } from "../../src/core/policy/permit.ts";
import { messageOf } from "../../src/core/schema/error.ts";
import type { Tool } from "../../src/core/task/tool.ts";
import { callTool } from "./call-tool.ts";

/** The course of a conversation: every call, the result or last text, and the usage of each turn. */
export type Driven = {
  readonly messages: readonly Message[];
  readonly calls: readonly ToolCall[];
  readonly text: string;
  readonly handedIn?: unknown;
  readonly turns: number;
  readonly usage: readonly TurnUsage[];
};

type Given = Partial<ModelRequest> & { readonly prompt: string; readonly cwd: string; readonly with?: readonly Tool[] };

/** A loop with only turns and tools, for models that work alone. */
export async function drive(model: Model, { prompt, cwd, with: given = [], ...more }: Given): Promise<Driven> {
  const messages: Message[] = [{ role: "user", text: prompt }, ...(more.messages ?? [])];
  const specs = given.map(({ name, description, input }) => ({
    name,
    description,
    input: input instanceof z.ZodType ? { ...z.toJSONSchema(input) } : input,
  }));
  const made: ToolCall[] = [];
  const usage: TurnUsage[] = [];
  for (let turns = 1; turns <= 10; turns++) {
    const request: ModelRequest = {
      model: "m",
      system: "",
      toolChoice: "auto",
      ...more,
      messages: [...messages],
      tools: [...specs, ...(more.tools ?? [])],
    };
    let text = "";
    const calls: ToolCall[] = [];
    for await (const event of model(request, new AbortController().signal)) {
      if (event.type === "text") text += event.text;
      if (event.type === "call") calls.push(event.call);
      if (event.type === "end") usage.push(event.usage);
      if (event.type === "error") throw new Error(event.fault.message);
    }
    made.push(...calls);
    messages.push({ role: "assistant", text, calls });
    const finish = calls.find(({ name }) => isFinishTool(name));
    if (finish !== undefined) return { messages, calls: made, text, handedIn: finish.input, turns, usage };
    if (calls.length === 0) return { messages, calls: made, text, turns, usage };
    messages.push({ role: "tool", results: await Promise.all(calls.map((call) => answered(call, given, cwd))) });
  }
  throw new Error("the model did not come to an end in 10 turns");
}

async function answered({ id, name, input }: ToolCall, tools: readonly Tool[], cwd: string): Promise<ToolAnswer> {
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) return { id, name, text: `there is no tool ${name}`, error: true };
  return callTool(tool, cwd, input).then(
    (text) => ({ id, name, text, error: false }),
    (error: unknown) => ({ id, name, text: messageOf(error), error: true }),
  );
}
