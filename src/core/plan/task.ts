import { z } from "zod";
import { resourceLimits } from "../vocabulary/limits-schema.ts";
import { runnerName } from "../vocabulary/runner-name.ts";
import { thinking } from "../vocabulary/thinking.ts";
import { isolationKinds } from "./isolation.ts";

/** When a failed task is tried again. */
export const retry = z.strictObject({
  maxAttempts: z.number().int().min(1).max(100).describe("how often it is tried, the first time included"),
  backoffMs: z.number().nonnegative().describe("the wait before the second try; it doubles each time, up to a minute"),
  retryOn: z.array(z.string()).optional().describe("try again only when the error contains one of these"),
  skipOn: z.array(z.string()).optional().describe("never try again when the error contains one of these"),
});

const schema = z.record(z.string(), z.unknown());

/** What a task may say about who does it and how; the same words at every level of every mode. */
export const taskSettings = {
  agent: z.string().min(1).optional().describe("the agent that does it"),
  model: z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
    .optional()
    .describe("the model, or several in order of preference"),
  tools: z.array(z.string()).optional().describe("the tools it may use; an empty list means none"),
  thinking: thinking.optional().describe("how much the model may think"),
  systemPrompt: z.string().optional().describe("instructions in place of the agent's own"),
  inputs: z.record(z.string(), z.unknown()).optional().describe("values for the inputs that the agent declares"),
  cwd: z.string().optional().describe("the folder it works in"),
  schema: schema.optional().describe("the schema that its result has to meet"),
  retry: retry.optional().describe("when a failure is tried again"),
  resourceLimits: resourceLimits.optional().describe("limits of time, turns, tool calls, memory and processor time"),
  runner: runnerName
    .optional()
    .describe(
      "who does it: this program, a thread or process of its own, another tool, or an ACP agent as acp:COMMAND",
    ),
  isolation: z
    .enum(isolationKinds)
    .optional()
    .describe("`worktree`: it works in a git worktree of its own, and its changes come back as a patch"),
  isolationDirty: z.boolean().optional().describe("what is not committed yet is in the worktree, too"),
  isolationKeep: z.boolean().optional().describe("the patch is only kept, also when it could be applied"),
  fork: z
    .union([z.boolean(), z.string().regex(/^[^/]+\/./, "a task is named by its run and its path, as run_id/path")])
    .optional()
    .describe(
      "true: it starts from the conversation of the agent that starts it; RUN/TASK: from the conversation of that task",
    ),
  writes: z
    .array(z.string().min(1))
    .optional()
    .describe("the files it may change, as patterns from the workspace on; whoever writes the same waits"),
} as const;

/** What a placeholder stands for: the output of a node, or the prompt that a node was given. */
const reference = z.union([z.string(), z.strictObject({ prompt: z.string() })]);
export type Reference = z.infer<typeof reference>;

/** One assignment: an agent, a prompt, and what is different this time. */
export const task = z.strictObject({
  ...taskSettings,
  prompt: z.string().min(1).describe("what it is asked; {node} stands for that node's output"),
  preface: z.string().optional().describe("background that precedes the prompt"),
  label: z.string().optional().describe("what people see instead of the node's id"),
  refs: z
    .record(z.string(), reference)
    .optional()
    .describe("placeholder -> node; when given, nothing else in the prompt is a reference"),
  include: z.array(z.string()).optional().describe("nodes whose outputs are attached after the prompt"),
  revise: z.string().optional().describe("the prompt of later rounds in a loop, with {task}, {output} and {feedback}"),
  continues: z
    .string()
    .optional()
    .describe("the task of an earlier run whose conversation it goes on with, as run/path"),
  planOnly: z.boolean().optional().describe("it only reads, and hands in the plan of its work"),
  resumes: z.string().optional().describe("the node whose conversation it goes on with, with all of its tools"),
  acceptSchema: schema.optional().describe("an answer that does not meet this schema counts as failed"),
  acceptCommand: z
    .string()
    .min(1)
    .optional()
    .describe("a command that reads the answer and accepts it by ending with 0"),
});
export type Task = z.infer<typeof task>;
