import { z } from "zod";
import { emptyScratchpad } from "../../src/core/task/scratchpad.ts";
import type { Tool, ToolContext } from "../../src/core/task/tool.ts";

/** Calls a tool as the loop does: the input is parsed first, and only text is returned. */
export async function callTool(
  tool: Tool,
  cwd: string,
  input: unknown,
  more: Partial<ToolContext> = {},
): Promise<string> {
  const parsed = tool.input instanceof z.ZodType ? tool.input.parse(input) : input;
  const result = await tool.run(parsed, { ...emptyContext, cwd, ...more });
  return typeof result === "string" ? result : result.text;
}

/** A context without any of the optional parts. */
export const emptyContext: Omit<ToolContext, "cwd"> = {
  signal: new AbortController().signal,
  env: {},
  run: "run_test",
  path: "test",
  agent: "tester",
  desk: emptyScratchpad(),
  notify: () => {},
  report: () => {},
  delegate: () => Promise.reject(new Error("no tool of this test delegates")),
};
