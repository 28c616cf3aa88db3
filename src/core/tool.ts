import type { z } from "zod";
import type { AnyInput } from "./input.ts";
import type { JsonSchema } from "./json.ts";
import type { Outcome } from "./outcome.ts";
import type { Plan } from "./plan.ts";

/** What an agent may do. A tool that fails throws or returns `{ error }`; either becomes an error result. */
export type Tool<I = unknown> = Readonly<{
  name: string;
  description: string;
  input: z.ZodType<I> | JsonSchema;
  /** A `read` tool changes nothing, so it may be repeated after a crash. */
  effect: "read" | "write";
  timeoutMs?: number;
  run(input: I, context: ToolContext): Promise<ToolResult> | ToolResult;
}>;

export type ToolResult = string | Readonly<{ text: string; /** set when the call did not succeed */ error?: boolean }>;

/** What a tool is handed: where it works, when to stop, and whom it may ask. */
export type ToolContext = Readonly<{
  cwd: string;
  signal: AbortSignal;
  env: Readonly<Record<string, string | undefined>>;
  /** The path of the node that calls. */
  path: string;
  /** Shows output while the tool runs; not recorded. */
  report(text: string): void;
  /** Runs other agents under the caller's path; the caller's slot is free while it waits. */
  delegate(what: AnyInput | Plan): Promise<Outcome>;
}>;

/** Identity at run time; ties the input's type to its schema at compile time. */
export function defineTool<S extends z.ZodType>(tool: Omit<Tool<z.infer<S>>, "input"> & { readonly input: S }): Tool {
  return Object.freeze(tool) as unknown as Tool;
}
