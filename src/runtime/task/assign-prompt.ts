import { resolve } from "node:path";
import type { Agent, Completion } from "../../core/agent/agent.ts";
import { type FailedOutcome, failed } from "../../core/outcome/outcome.ts";
import { jsonSchemaOf } from "../../core/schema/jtd.ts";
import type { RunEnvironment } from "../../core/run/event.ts";
import { environmentText, sandboxText } from "../../core/task/environment.ts";
import { toolNamesText } from "./mentioned-tools.ts";
import type { ChosenModel } from "../../core/task/runner.ts";
import { defined } from "../../core/text/defined.ts";
import { isRecord, type JsonSchema } from "../../core/text/json.ts";
import { reveal } from "../../core/text/sanitize.ts";
import { firstMessage } from "../loop/first-message.ts";
import type { AssignedAccess } from "./assign-access.ts";
import type { AssignedAgent, AssignRequest } from "./assign-agent.ts";
import type { AssignedTools } from "./assign-tools.ts";
import { forkedCompletion, forkedPrompt } from "./forked-prompt.ts";
import { systemFor } from "./system-prompt.ts";
import { type Check, checkFor } from "./compile-schema.ts";

/** The prompts of a task, and its output schema. */
export type AssignedPrompt = Readonly<{
  system: string;
  instructions: string;
  projectInstructions?: string;
  prompt: string;
  /** Length of the prompt's beginning that all tasks of the run share. */
  sharedChars?: number;
  completion: Completion;
  schema?: JsonSchema;
  validate?: Check;
}>;

/**
 * Fifth step of assigning a task: writes the prompts and compiles the output schema. An output schema that is not valid
 * is refused.
 */
export async function assignPrompt(
  { call, world, emit }: AssignRequest,
  {
    name,
    definition,
    agent,
    planMode,
    model,
    rights,
    tools,
    cwd,
    access,
  }: Omit<AssignedAgent, "limits"> &
    Readonly<{ model: ChosenModel }> &
    Pick<AssignedTools, "rights" | "tools"> &
    Pick<AssignedAccess, "access" | "cwd">,
): Promise<AssignedPrompt | FailedOutcome> {
  const { task } = call;
  const schema = isRecord(agent.output) ? jsonSchemaOf(agent.output) : undefined;
  if (task.schema && isRecord(definition.output))
    emit({
      type: "warning",
      code: "SCHEMA_UNUSED",
      text:
        agent.output === definition.output
          ? `${name} has its own output schema, so the schema of the task is not used.`
          : `The task has an output schema, so the schema of ${name} is not used.`,
    });
  const validate = schema && (await checkFor(world.validator, schema));
  if (validate && "broken" in validate)
    return failed("INVALID_OUTPUT", `The output schema of "${name}" is not a valid JSON Schema: ${validate.broken}.`);
  const { fork } = call;
  const completion = fork ? forkedCompletion(fork) : (agent.completion ?? (schema ? "tool" : "text"));
  const asked = firstMessage(call, schema !== undefined);
  const project = fork ? "" : projectText({ call, world, emit }, definition);
  const { date, git } = call.environment ?? { date: new Date(world.clock()).toDateString(), git: "unknown" };
  const { instructions, system } = systemFor(agent, task, {
    activeModel: model.name,
    today: date,
    environment: fork ? "" : world.redactor.text(await environmentOf({ date, git, folder: cwd, access })),
    toolNames: toolNamesText(agent, { tools, rights, style: world.settings.toolNames }),
    project,
    completion,
    planMode,
  });
  return {
    system: fork?.system ?? system,
    instructions,
    ...(project !== "" && { projectInstructions: project }),
    prompt: fork && !call.resumes ? forkedPrompt(fork, asked, { agent, instructions, rights, schema }) : asked,
    ...(call.context !== "" && !fork && !call.resumes && { sharedChars: call.context.length }),
    completion,
    ...defined({ schema, validate }),
  };
}

/**
 * The project instructions for the task's folder, without secrets. For a worktree, these are the instructions of its
 * project.
 */
function projectText(
  { call: { task }, world: { instructions, redactor, settings }, emit }: AssignRequest,
  agent: Agent,
): string {
  if (!instructions) return "";
  const { text, notes } = instructions(agent, resolve(settings.cwd, task.cwd ?? ""));
  for (const note of notes) emit({ type: "note", text: note });
  return redactor.text(text);
}

/** What the model is told about the folder, this machine and the repository. */
async function environmentOf({
  access,
  folder,
  ...start
}: RunEnvironment & Readonly<{ folder: string; access: AssignedAccess["access"] }>): Promise<string> {
  const sandbox = sandboxText(await access?.sandbox?.());
  return environmentText({
    ...start,
    folder: reveal(folder),
    platform: `${process.platform} ${process.arch}`,
    sandbox,
  });
}
