import { z } from "zod";
import { isRecord } from "../text/json.ts";
import { attachedImages } from "../vocabulary/image.ts";
import { resourceLimits } from "../vocabulary/limits-schema.ts";
import { runnerName } from "../vocabulary/runner-name.ts";
import { thinking } from "../vocabulary/thinking.ts";
import { isolationKinds } from "./isolation.ts";

/** When a failed task is tried again. */
export const retry = z.strictObject({
  maxAttempts: z.number().int().min(1).max(100).describe("maximum number of attempts, including the first"),
  backoffMs: z.number().nonnegative().describe("wait before the second attempt; it doubles each time, up to a minute"),
  retryOn: z.array(z.string()).optional().describe("retry only when the error contains one of these"),
  skipOn: z.array(z.string()).optional().describe("never retry when the error contains one of these"),
});

/**
 * A JSON Schema. Parsing returns the same object, because the object is the key that leads to the original schema of
 * the caller's schema library (such as zod).
 */
export const jsonSchema = z
  .unknown()
  .superRefine((value, context) => {
    if (!isRecord(value)) context.addIssue({ code: "invalid_type", expected: "object", input: value });
  })
  .meta({ type: "object", propertyNames: { type: "string" }, additionalProperties: {} }) as unknown as z.ZodType<
  Record<string, unknown>
>;

/** Settings of a task, the same in every mode, for all tasks together and for a single task. */
export const taskSettings = {
  agent: z.string().min(1).optional().describe("the agent that runs the task"),
  model: z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
    .optional()
    .describe("the model, or several in order of preference"),
  tools: z.array(z.string()).optional().describe("tools the task may use; an empty list means none"),
  thinking: thinking.optional().describe("thinking level of the model"),
  systemPrompt: z.string().optional().describe("instructions that replace the agent's own"),
  inputs: z.record(z.string(), z.unknown()).optional().describe("values of the inputs that the agent declares"),
  cwd: z.string().optional().describe("working folder of the task"),
  schema: jsonSchema.optional().describe("JSON Schema of the result"),
  retry: retry.optional().describe("when and how a failed task is retried"),
  resourceLimits: resourceLimits.optional().describe("limits on time, turns, tool calls, memory and CPU time"),
  runner: runnerName
    .optional()
    .describe(
      "where the task runs: in this process, in a thread or process of its own, in another agent program, or as an ACP agent (acp:COMMAND)",
    ),
  isolation: z
    .enum(isolationKinds)
    .optional()
    .describe("`worktree`: the task works in a separate git worktree, and its changes are applied as a patch"),
  isolationDirty: z.boolean().optional().describe("the worktree includes uncommitted changes"),
  isolationKeep: z.boolean().optional().describe("the patch is only saved, not applied"),
  fork: z
    .union([z.boolean(), z.string().regex(/^[^/]+\/./, "a task is named by its run and its path, as run_id/path")])
    .optional()
    .describe(
      "true: the task starts from the conversation of the agent that starts it; RUN/TASK: from the conversation of that task",
    ),
  writes: z
    .array(z.string().min(1))
    .optional()
    .describe("files the task may change, as patterns relative to the workspace; overlapping tasks run one at a time"),
} as const;

/** The target of a placeholder in a prompt: the output or the prompt of a node. */
const reference = z.union([z.string(), z.strictObject({ prompt: z.string() })]);
export type Reference = z.infer<typeof reference>;

/** One assignment: an agent, a prompt and overrides. */
export const task = z.strictObject({
  ...taskSettings,
  prompt: z.string().min(1).describe("the prompt; {node} is replaced by that node's output"),
  images: attachedImages.optional().describe("images that the model sees with the prompt"),
  preface: z.string().optional().describe("context placed before the prompt"),
  label: z.string().optional().describe("label shown instead of the node id"),
  refs: z
    .record(z.string(), reference)
    .optional()
    .describe("maps each placeholder to a node; other text in braces is then not replaced"),
  include: z.array(z.string()).optional().describe("nodes whose outputs are attached after the prompt"),
  revise: z.string().optional().describe("the prompt of later rounds in a loop, with {task}, {output} and {feedback}"),
  continues: z
    .string()
    .optional()
    .describe("the task of an earlier run whose conversation this task continues, as run/path"),
  planOnly: z.boolean().optional().describe("the task only reads and returns a plan of its work"),
  resumes: z.string().optional().describe("the node whose conversation this task continues, with all of its tools"),
  acceptSchema: jsonSchema.optional().describe("an answer that does not match this schema counts as failed"),
  acceptCommand: z
    .string()
    .min(1)
    .optional()
    .describe("a command that reads the answer and accepts it by exiting with 0"),
});
export type Task = z.infer<typeof task>;
