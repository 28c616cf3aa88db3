import { z } from "zod";
import type { Exact } from "../text/defined.ts";
import { budgetLimits } from "./budget.ts";

const count = z.number().int().positive();

/** The options of a run that the settings may also set, for every run. */
export const runLimits = z.strictObject({
  concurrency: count.optional().describe("how many tasks run at once"),
  maxTimeMs: count.optional().describe("how long a run may take, in milliseconds"),
  maxDepth: z.number().int().optional().describe("how deeply agents may start agents; negative: unlimited"),
  answerTimeoutMs: count.optional().describe("how long a question waits for its answer, in milliseconds"),
  priority: z
    .number()
    .int()
    .min(1)
    .max(9)
    .optional()
    .describe("priority on an engine that several runs share: runs with a lower number go first; 5 by default"),
  placementTimeoutMs: count
    .optional()
    .describe(
      "on an engine: how long a task waits for a worker before it fails, unless it may wait for ever, in milliseconds",
    ),
  budget: budgetLimits.optional().describe("budget of one run and everything that it starts"),
  onLimit: z
    .enum(["park", "end"])
    .optional()
    .describe("when a limit of the run is reached: tasks wait for a higher one, or end with one last turn"),
  onProviderFault: z
    .enum(["park", "fail"])
    .optional()
    .describe("when a key is refused, credit or quota used up, or a provider down: tasks wait, or fail"),
});

/**
 * Every option of a run that is JSON. Each option is declared only in this schema, and the whole object is passed on
 * from the caller to the node that reads the option.
 */
export const runParameters = z.strictObject({
  ...runLimits.shape,
  name: z.string().optional().describe("the name of the run; its id by default"),
  parkByDefault: z
    .boolean()
    .optional()
    .describe(
      "true: tasks wait (park) at a limit or a provider fault, unless onLimit or onProviderFault says otherwise or CI is set",
    ),
  modelsGiveWay: z
    .boolean()
    .optional()
    .describe(
      "true: a task whose model cannot be used here gets the model of its agent or the default, with a warning, because a model wrote the plan; otherwise the run does not start",
    ),
  unattended: z.boolean().optional().describe("true: no person is available to answer gates"),
  asksCalls: z
    .boolean()
    .optional()
    .describe("whether a person can be asked about tool calls; default: whenever gates can be answered"),
  yes: z
    .boolean()
    .optional()
    .describe(
      "true: approvals and permission questions are answered with yes, each once; an agent's own questions and the `ask` rules of its file are not",
    ),
  strict: z.boolean().optional().describe("true: a placeholder that refers to nothing is an error"),
  reuse: z
    .boolean()
    .optional()
    .describe("true: use results of earlier runs whose agent, input, model, tools and files are still the same"),
  projectInstructions: z
    .boolean()
    .optional()
    .describe("false: agents do not read the project's instructions (AGENTS.md, CLAUDE.md, GEMINI.md)"),
  refreshAgent: z
    .boolean()
    .optional()
    .describe(
      "true: use the current agent definitions instead of the recorded ones, with no more permissions than before",
    ),
  continues: z.string().optional().describe("the task of an earlier run that this run continues, as run/path"),
  origin: z
    .strictObject({ by: z.string(), caller: z.string(), agent: z.string(), context: z.string() })
    .readonly()
    .optional()
    .describe("the remote caller that requested the run"),
});

export type RunParameters = Readonly<Exact<z.infer<typeof runParameters>>>;
