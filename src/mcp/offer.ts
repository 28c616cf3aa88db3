import { z } from "zod";
import type { Plan } from "../core/plan/plan.ts";
import { modelSchemaOf } from "../core/schema/model-schema.ts";
import type { JsonSchema } from "../core/text/json.ts";
import type { DelegationCallContext, DelegationResult } from "./delegated.ts";
import type { ServerContext } from "./server-context.ts";
import type { CallResult } from "./sdk.ts";
import type { RunView } from "./result/view.ts";

/** A tool as it is offered to clients. */
export type Offer = Readonly<{
  name: string;
  description: string;
  /** Creates the schema when a client lists the tools. It is not created at startup, to answer the client sooner. */
  input(): JsonSchema;
  output?(): JsonSchema;
  /** True when the tool changes nothing. */
  readOnly: boolean;
  /** True when agents work for the tool, so that it reaches a model and the tools of those agents. */
  openWorld: boolean;
}> &
  (StartingTool | ImmediateTool | DelegatingTool);

/** A tool that starts a run; it supports progress, questions and MCP tasks. */
export type StartingTool = Readonly<{
  /** The plan for these arguments. Throws for invalid arguments. */
  plan(args: ToolArguments): Plan | Promise<Plan>;
  /** False when the caller only waits for the start of the run. */
  waits(args: ToolArguments): boolean;
  /** The text about the finished run for the client's model, if it differs from the run's output. */
  told?(view: RunView): string;
}>;

/** A tool that answers at once. */
export type ImmediateTool = Readonly<{
  answer(args: ToolArguments, office: ServerContext, signal: AbortSignal): Promise<CallResult>;
}>;

/** A tool that starts runs by itself, as the delegation tools with the names of other programs do. */
export type DelegatingTool = Readonly<{
  delegate(args: ToolArguments, call: DelegationCallContext): Promise<DelegationResult>;
}>;

export type ToolArguments = Readonly<Record<string, unknown>>;

/** The JSON Schema of a zod type, as a model reads it. The schema is created once. */
export function schemaOf(type: z.ZodType, io: "input" | "output"): () => JsonSchema {
  let made: JsonSchema | undefined;
  return () => {
    made ??= modelSchemaOf(z.toJSONSchema(type, { io }));
    return made;
  };
}
