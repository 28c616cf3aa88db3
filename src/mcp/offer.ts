import { z } from "zod";
import type { Plan } from "../core/plan/plan.ts";
import type { JsonSchema } from "../core/text/json.ts";
import type { DelegationCallContext, DelegationResult } from "./delegated.ts";
import type { ServerContext } from "./server-context.ts";
import type { CallResult } from "./sdk.ts";
import type { RunView } from "./view.ts";

/** A tool as clients are offered it. */
export type Offer = Readonly<{
  name: string;
  description: string;
  /** Made when tools are listed: they are also looked up for calls, and a host waits for the first list. */
  input(): JsonSchema;
  output?(): JsonSchema;
  /** The tool changes nothing. */
  readOnly: boolean;
  /** Agents work in it, so it reaches a model and whatever tools they have. */
  openWorld: boolean;
}> &
  (StartingTool | ImmediateTool | DelegatingTool);

/** A tool that starts a run; it supports progress, questions and MCP tasks. */
export type StartingTool = Readonly<{
  /** The plan that its arguments mean. A mistake in them is thrown. */
  plan(args: ToolArguments): Plan | Promise<Plan>;
  /** False: the caller only wants to know that it began. */
  waits(args: ToolArguments): boolean;
  /** The final text for the model, if it differs from the output. */
  told?(view: RunView): string;
}>;

/** A tool that answers at once. */
export type ImmediateTool = Readonly<{
  answer(args: ToolArguments, office: ServerContext, signal: AbortSignal): Promise<CallResult>;
}>;

/** A tool that starts runs by itself, as the delegation tools of other systems do. */
export type DelegatingTool = Readonly<{
  delegate(args: ToolArguments, call: DelegationCallContext): Promise<DelegationResult>;
}>;

export type ToolArguments = Readonly<Record<string, unknown>>;

/** The JSON Schema of something that is checked with zod, without what only matters to a document of its own; made once. */
export function schemaOf(type: z.ZodType, io: "input" | "output"): () => JsonSchema {
  let made: JsonSchema | undefined;
  return () => {
    if (made) return made;
    const { $schema: _dialect, ...schema } = z.toJSONSchema(type, { io }) as JsonSchema;
    made = schema;
    return schema;
  };
}
